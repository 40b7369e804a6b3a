#include "decode/translator.h"

#include <gmock/gmock.h>

#include "base/utf8.h"
#include "tests/decode/tiny_translator.h"
#include "tests/threads.h"
#include "tests/vocab/travel_text.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

class TranslatorTest : public testing::Test {
 protected:
  std::vector<std::string> translate(const std::vector<std::string>& lines) {
    return Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search).translate(lines);
  }

  // Short segments and translations: a random model never ends one by itself, and 12,000 words are many.
  void expect_hostile_lines() {
    options.max_length = 200;
    search.max_length_factor = 0.3;
  }

  TinyModel tiny;
  TranslateOptions options;
  SearchOptions search{.beam_size = 3, .max_length_add = 3};
};

std::vector<std::string> hostile_lines() {
  std::string tokens = "the";
  for (int i = 1; i < 12'000; ++i) tokens += " the";
  return {"",
          " ",
          "\t \v\f ",
          "\r",
          "a\rb",
          std::string("a\0b", 3),
          std::string(1, '\0'),
          "one\u2028two\u0085three",
          "\xff\xfe broken \xe2\x82",
          "\u200b",
          "</s> <s> <unk> <0x0A>",
          "<s></s><unk>",
          "a ||| b",
          "😀 漢字 한국어 العربية",
          std::string(50'000, 'x'),
          tokens};
}

TEST_F(TranslatorTest, GivesALineForEveryLineWhateverItHolds) {
  expect_hostile_lines();
  const auto translations = translate(hostile_lines());
  EXPECT_THAT(translations, SizeIs(hostile_lines().size()));
  EXPECT_THAT(translations, Each(testing::Not(testing::ContainsRegex("[\r\n]"))));
}

TEST_F(TranslatorTest, TranslatesLinesOfBlanksAsEmpty) {
  EXPECT_THAT(translate({"", "Where is the castle?", " \t ", "\r"}), ElementsAre("", testing::Ne(""), "", ""));
}

TEST_F(TranslatorTest, GivesALineTheSameTranslationAloneAndAmongOthers) {
  expect_hostile_lines();
  auto lines = travel_text();
  lines.resize(60);
  for (const auto& hostile : hostile_lines()) lines.insert(lines.begin() + 10, hostile);
  const auto together = translate(lines);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(translate({lines[i]}), ElementsAre(together[i]));
  options.maxi_batch_lines = 2;
  options.mini_batch_words = 1;
  EXPECT_EQ(translate(lines), together);
}

// Long lines make tables of positions grow while all sentences use them.
TEST_F(TranslatorTest, TranslatesTheSameWithSeveralSearches) {
  expect_hostile_lines();
  options.max_length = 400;
  options.mini_batch_words = 100;
  auto lines = travel_text();
  lines.resize(100);
  std::string tokens = "the";
  for (int i = 1; i < 1000; ++i) tokens += " the";
  for (const std::string& more : {tokens, std::string(" "), tokens.substr(0, 700)})
    lines.insert(lines.begin() + 20, more);
  const Threads threads(3);
  for (const Positions positions : {Positions::sinusoidal, Positions::alibi})
    for (const Sampling sampling : {Sampling::none, Sampling::topk}) {
      search.sampling = sampling;
      const auto translated = [&](int searches) {
        TinyModel fresh(positions);
        const TranslatingModel model{&fresh.cx, fresh.model.get()};
        return Translator({&model, 1}, fresh.vocabularies, options, search, {}, searches).translate(lines);
      };
      const auto expected = translated(1);
      for (const int searches : {2, 7}) EXPECT_EQ(translated(searches), expected) << searches;
    }
}

// What a request is answered with does not depend on what else is translated, on threads, or on when it came.
TEST_F(TranslatorTest, AnswersRequestsWithOptionsOfTheirOwn) {
  std::vector<TextRequest> requests = {
      {.text = "The old castle stands on a hill.", .search = {.beam_size = 2, .max_length_add = 3}},
      {.text = ""},
      {.text = "the", .search = {.beam_size = 4, .max_length_add = 2, .n_best = 3}, .alignment = true},
      {.text = "a b c", .search = {.beam_size = 1, .max_length_add = 5}, .prefix = "the", .wanted = Wanted::pieces},
      {.text = "a b", .search = {.beam_size = 2, .max_length_add = 4, .n_best = 2, .sampling = Sampling::full}}};
  const auto answers = [&](const std::vector<TextRequest>& wanted, int searches) {
    Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search, searches);
    std::vector<std::vector<Translation>> found(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      translator.submit(
          wanted[i], [&found, i](std::vector<Translation> best) { found[i] = std::move(best); },
          [](std::exception_ptr) { FAIL(); });
      translator.step();
    }
    while (!translator.idle()) translator.step();
    return found;
  };
  const auto together = answers(requests, 1);
  const Threads threads(3);
  const auto in_threads = answers(requests, 3);
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto alone = answers({requests[i]}, 1)[0];
    for (const auto& found : {together[i], in_threads[i]}) {
      ASSERT_EQ(found.size(), std::max<size_t>(1, size_t(requests[i].search.n_best))) << i;
      for (size_t rank = 0; rank < found.size(); ++rank) {
        EXPECT_EQ(found[rank].text, alone[rank].text) << i;
        EXPECT_EQ(found[rank].log_prob, alone[rank].log_prob) << i;
      }
    }
  }
  EXPECT_EQ(together[1][0].text, "");
  EXPECT_FALSE(together[2][0].alignment.links.empty());
  EXPECT_THAT(together[3][0].text, testing::StartsWith("the"));
}

// The random model writes bytes too, of which some are no characters.
TEST_F(TranslatorTest, ReportsPartialTranslations) {
  options.max_length = 6;
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search, 2);
  int partials = 0;
  for (const int beam : {1, 3}) {
    for (const std::string& line :
         {std::string("Where is the castle?"), std::string("a b c d e f g h i j k l m n o p")}) {
      std::vector<std::string> texts;
      std::string whole;
      SearchOptions wanted = search;
      wanted.beam_size = beam, wanted.max_length_add = 20;
      translator.submit(
          {.text = line, .search = wanted, .partial = [&](const std::string& text) { texts.push_back(text); }},
          [&](std::vector<Translation> best) { whole = best[0].text; },
          [](std::exception_ptr) { FAIL() << "it can be translated"; });
      while (!translator.idle()) translator.step();
      for (const std::string& text : texts) {
        EXPECT_TRUE(whole.starts_with(text)) << text << "\n" << whole;
        EXPECT_TRUE(is_valid_utf8(text));
      }
      for (size_t i = 1; i < texts.size(); ++i) EXPECT_GT(texts[i].size(), texts[i - 1].size());
      partials += int(texts.size());
    }
  }
  EXPECT_GT(partials, 20);
}

TEST(BeginningOf, LeavesOutAnUnfinishedCharacter) {
  const Vocabulary& vocabulary = tiny_vocabulary();
  const auto ids = vocabulary.encode("😀");  // four bytes
  std::vector<int32_t> bytes;
  for (const int32_t id : ids)
    if (vocabulary.is_byte(id)) bytes.push_back(id);
  ASSERT_EQ(bytes.size(), 4u);
  for (size_t n = 0; n < 4; ++n) EXPECT_EQ(beginning_of(vocabulary, std::span(bytes).first(n)), "");
  EXPECT_EQ(beginning_of(vocabulary, bytes), "😀");
  const std::vector<int32_t> astray = {bytes[1], bytes[2], bytes[3], bytes[1]};
  EXPECT_TRUE(is_valid_utf8(beginning_of(vocabulary, astray)));
}

TEST_F(TranslatorTest, ForgetsRequestsThatAreCancelled) {
  search.min_length = search.max_length_add = 50;  // more than the tokens of a step
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search);
  int answered = 0;
  const auto count = [&](std::vector<Translation>) { ++answered; };
  const auto fail = [](std::exception_ptr) { FAIL(); };
  const auto first = translator.submit({.text = "the castle", .search = search}, count, fail);
  const auto second = translator.submit({.text = "the hill", .search = search}, count, fail);
  translator.step();
  EXPECT_TRUE(translator.cancel(second));
  EXPECT_FALSE(translator.cancel(second));
  while (!translator.idle()) translator.step();
  EXPECT_EQ(answered, 1);
  EXPECT_FALSE(translator.cancel(first)) << "it is done";
}

TEST_F(TranslatorTest, RefusesRequestsThatMakeNoSense) {
  Translator translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search);
  const auto submit = [&](const SearchOptions& wanted) {
    try {
      translator.submit({.text = "the", .search = wanted}, {}, {});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(submit({.beam_size = 0}), "--beam-size: 0 is out of range, expected from 1 to 1024");
  EXPECT_EQ(submit({.beam_size = 2, .n_best = 3}), "--n-best 3 exceeds --beam-size 2");
  EXPECT_TRUE(translator.idle());
}

// A decoding and a model that run out of memory for a source of more than 30 pieces.
class ScantDecoding : public Decoding {
 public:
  explicit ScantDecoding(std::unique_ptr<Decoding> decoding) : decoding_(std::move(decoding)) {}
  void add(int first, const PackedIds& source, int width) override {
    for (int s = 0; s < source.spans.sentences(); ++s)
      if (source.spans[s].end - source.spans[s].begin > 30) throw OutOfMemory("31 pieces", "shorten the line");
    decoding_->add(first, source, width);
  }
  void restrict(std::span<const int32_t> pieces) override { decoding_->restrict(pieces); }
  Tensor step(std::span<const StepRow> rows) override { return decoding_->step(rows); }
  void keep() override { decoding_->keep(); }
  void remove(int sentence) override { decoding_->remove(sentence); }

 private:
  const std::unique_ptr<Decoding> decoding_;
};

class ScantModel : public Model {
 public:
  explicit ScantModel(Model& model) : model_(model) {}
  const ModelConfig& config() const override { return model_.config(); }
  Parameters& parameters() override { return model_.parameters(); }
  TokenLoss loss(Context& cx, const Batch& b, double smoothing) override { return model_.loss(cx, b, smoothing); }
  Tensor logits(Context& cx, const Batch& batch) override { return model_.logits(cx, batch); }
  std::unique_ptr<Decoding> decode(Context& cx) override { return std::make_unique<ScantDecoding>(model_.decode(cx)); }

 private:
  Model& model_;
};

TEST_F(TranslatorTest, LosesNoLineThatWasDoneWhenASearchFails) {
  options.no_spm_encode = true;
  options.mini_batch_words = 20;
  std::string long_line = "▁the";
  for (int i = 1; i < 40; ++i) long_line += " ▁the";
  std::vector<std::string> lines;
  for (int i = 0; i < 60; ++i) lines.push_back(i % 2 ? "▁a b ." : "▁the ▁a a b");
  const auto expected = translate(lines);
  lines[50] = long_line;
  const Threads threads(3);
  ScantModel model(*tiny.model);
  for (const int searches : {1, 3}) {
    Translator translator(tiny.cx, model, tiny.vocabularies, options, search, searches);
    std::vector<std::string> written;
    auto next = lines.begin();
    const Translator::Flow flow{
        .ready = [] { return true; },
        .next = [&](std::string& line, bool&) { return next != lines.end() && (line = *next++, true); },
        .write = [&](const auto& best, bool) { written.push_back(best[0].text); },
        .flush = [] {}};
    EXPECT_THROW(translator.run(flow), OutOfMemory) << searches;
    EXPECT_GT(written.size(), 20u) << searches;
    EXPECT_LE(written.size(), 50u) << searches;
    EXPECT_TRUE(std::equal(written.begin(), written.end(), expected.begin())) << searches;
  }
}

TEST_F(TranslatorTest, BeginsATranslationAsItsLineSays) {
  options.force_decode = true;
  const auto found = translate({"Where is the castle?\tWo ist", "Where is the castle?", "Where is the castle?\t \t ",
                                "\tWo ist", "Wo ist\t", "\t", "Where is the castle?\tWo\tist"});
  EXPECT_THAT(found[0], testing::StartsWith("Wo ist"));
  EXPECT_EQ(found[1], found[2]) << "nothing is forced";
  EXPECT_THAT(found[3], testing::StartsWith("Wo ist"));
  EXPECT_EQ(found[5], "");
  EXPECT_THAT(found[6], testing::StartsWith("Wo\tist")) << "only the first tab divides a line";
  options.force_decode = false;
  EXPECT_EQ(translate({"Where is the castle?"})[0], found[1]);
  EXPECT_NE(translate({"Where is the castle?\tWo ist"})[0], found[0]) << "a tab is a blank";
}

TEST_F(TranslatorTest, NeverCutsWhatATranslationBeginsWith) {
  options.force_decode = true;
  search.max_length_factor = 0.1;
  const std::string beginning = "Where is the castle and how much is a ticket?";
  EXPECT_THAT(translate({"a\t" + beginning})[0], testing::StartsWith(beginning));
}

TEST_F(TranslatorTest, TranslatesWithSeveralModels) {
  TinyModel learned(Positions::learned, 64);
  const std::vector<TranslatingModel> models = {{&tiny.cx, tiny.model.get(), 0.5},
                                                {&learned.cx, learned.model.get(), 0.5}};
  Translator together(models, tiny.vocabularies, options, search);
  std::vector<std::vector<Translation>> found;
  size_t read = 0;
  const std::vector<std::string> lines = {"Where is the castle?", ""};
  together.run({.ready = [] { return true; },
                .next = [&](std::string& line, bool&) { return read < 2 && (line = lines[read++], true); },
                .write = [&](auto best, bool) { found.push_back(std::move(best)); },
                .flush = [] {}});
  ASSERT_THAT(found, SizeIs(2));
  ASSERT_THAT(found[0][0].by_model, SizeIs(2));
  EXPECT_NEAR(found[0][0].log_prob, (found[0][0].by_model[0] + found[0][0].by_model[1]) / 2, 1e-4);
  EXPECT_THAT(found[1][0].by_model, ElementsAre(0, 0));
}

TEST_F(TranslatorTest, DrawsTheSameForALineWhateverTheBatch) {
  search.sampling = Sampling::full;
  search.beam_size = 1;
  auto lines = travel_text();
  lines.resize(30);
  lines.insert(lines.begin(), lines[0]);
  const auto together = translate(lines);
  EXPECT_NE(together[0], together[1]) << "the same text on two lines";
  options.maxi_batch_lines = 2;
  options.mini_batch_words = 1;
  EXPECT_EQ(translate(lines), together);
}

TEST_F(TranslatorTest, WritesALineBeforeItWaitsForTheNext) {
  expect_lines_written_before_the_next([&](const Translator::Flow& flow) {
    Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search).run(flow);
  });
}

TEST_F(TranslatorTest, HoldsNoMoreLinesThanItMay) {
  const auto lines = travel_text();
  options.maxi_batch_lines = 7;
  size_t read = 0, written = 0, most = 0;
  Translator(tiny.cx, *tiny.model, tiny.vocabularies, options, search)
      .run({.ready = [] { return true; },
            .next =
                [&](std::string& line, bool&) {
                  const bool more = read < 100;
                  if (more) line = lines[read++];
                  most = std::max(most, read - written);
                  return more;
                },
            .write = [&](const auto&, bool) { ++written; },
            .flush = [] {}});
  EXPECT_EQ(written, 100u);
  EXPECT_EQ(most, 7u);
}

}  // namespace
}  // namespace dragoman
