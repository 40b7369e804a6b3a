#include "dragoman/text_translator.h"

#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "align/align_text.h"
#include "base/error.h"
#include "base/line_reader.h"
#include "cli/commands.h"
#include "cli/translate_options.h"
#include "decode/translator.h"
#include "dragoman/engine.h"
#include "tests/decode/tiny_translator.h"
#include "tests/failing_memory.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class TextTranslatorTest : public testing::Test {
 protected:
  TextTranslatorTest() { tiny.save(model); }

  auto refused(TextTranslatorOptions options) {
    return [this, options] { TextTranslator(engine, options); };
  }

  TinyModel tiny;
  TemporaryFolder folder;
  const std::string model = folder / "tiny.safetensors";
  const std::vector<std::string> lines = {"a red house", "", "the old book is new"};
  Engine engine{EngineOptions{.threads = 2}};
};

TEST_F(TextTranslatorTest, TranslatesAsTheSearchDoesAndCallAfterCall) {
  TextTranslator translator(engine, {.models = {model}, .search = {.beam_size = 3}, .max_length = 50});
  const std::vector<std::string> expected =
      Translator(tiny.cx, *tiny.model, tiny.vocabularies, {.max_length = 50}, {.beam_size = 3}).translate(lines);
  EXPECT_EQ(translator.translate(lines), expected);
  EXPECT_EQ(translator.translate(lines), expected);
  EXPECT_THAT(translator.translate({}), IsEmpty());
}

TEST_F(TextTranslatorTest, TranslatesBesideAnotherOnTheSameEngine) {
  TextTranslator one(engine, {.models = {model}}), two(engine, {.models = {model, model}, .search = {.beam_size = 2}});
  const auto of_one = one.translate(lines), of_two = two.translate(lines);
  std::vector<std::string> beside;
  std::thread other([&] { beside = two.translate(lines); });
  EXPECT_EQ(one.translate(lines), of_one);
  other.join();
  EXPECT_EQ(beside, of_two);
}

TEST_F(TextTranslatorTest, RefusesToLinkWordsWithoutCrossAttentionAndKeepsOtherRequests) {
  ModelConfig config = toy_config();
  config.type = ModelType::decoder_only;
  TextTranslator translator(engine, {.models = {save_toy_model(folder / "alone", 1, config)}});
  int done = 0;
  const auto submit = [&](bool alignment) {
    translator.submit(
        {.text = "a", .alignment = alignment}, [&](const auto&) { ++done; }, [](const std::exception_ptr&) { FAIL(); });
  };
  submit(false);
  EXPECT_THAT([&] { submit(true); }, ThrowsMessage<Error>(HasSubstr("cross-attention")));
  while (translator.step()) {}
  EXPECT_EQ(done, 1);
}

TEST_F(TextTranslatorTest, RefusesAModelOfSeveralLanguagesWithoutThem) {
  ModelConfig config = tiny.config;
  config.generation.source_language = SourceLanguage::first;  // as yet unknown
  const std::string many = folder / "many.safetensors";
  save_model(many, config, tiny.vocabularies, weights_of(tiny.model->parameters()));
  EXPECT_THAT(refused({.models = {many}}), ThrowsMessage<Error>(HasSubstr("its source language is not given")));
}

// One option of each kind that the command has, and what the command makes of them.
TEST_F(TextTranslatorTest, TranslatesAsTheCommandDoes) {
  const std::string second = folder / "second.safetensors", shortlist = folder / "shortlist";
  TinyModel(Positions::interleaved).save(second);
  const std::string text = folder.make("text", lines[0] + "\n" + lines[2] + "\n");
  AlignOptions alignment;
  alignment.train_sets = {text, text};
  alignment.model = model;
  alignment.shortlist = shortlist;
  align_text(alignment);
  const std::vector<TextTranslatorOptions> all = {
      {.models = {model, second}, .weights = {0.3, 0.9}, .search = {.beam_size = 2}},
      {.models = {model, second}, .ensemble_mean = EnsembleMean::arithmetic},
      {.models = {model}, .precision = Precision::int8, .search = {.max_length_add = 5}},
      {.models = {model}, .shortlist = shortlist, .search = {.normalize = 0, .max_length_add = 5}},
      {.models = {model}, .search = {.beam_size = 1, .sampling = Sampling::full, .seed = 3}}};
  for (const TextTranslatorOptions& o : all) {
    TranslateCommandOptions command;
    static_cast<EnsembleOptions&>(command) = {o.models,   o.weights, o.ensemble_mean, o.precision,
                                              o.glossary, o.avoid,   o.shortlist};
    static_cast<SearchOptions&>(command) = o.search;
    command.input = folder.make("in", lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n");
    command.output = folder / "out";
    translate_command(engine, command);
    EXPECT_EQ(TextTranslator(engine, o).translate(lines), read_lines(command.output));
  }
}

TEST_F(TextTranslatorTest, AnswersRequestsWithOptionsOfTheirOwn) {
  TextTranslator translator(engine, {.models = {model}, .search = {.max_length_add = 5}});
  const auto expected = translator.translate(lines);
  std::vector<std::vector<TranslatedText>> found(lines.size());
  const auto failed = [](std::exception_ptr) { FAIL(); };
  const SearchOptions search{.beam_size = 5, .max_length_add = 5, .n_best = 3};
  for (size_t i = 0; i < lines.size(); ++i)
    translator.submit(
        {.text = lines[i], .search = search}, [&, i](auto best) { found[i] = best; }, failed);
  EXPECT_EQ(translator.translate(lines), expected) << "others are under way";
  while (translator.step()) {}
  EXPECT_FALSE(translator.step());
  for (size_t i : {0, 2}) {
    ASSERT_EQ(found[i].size(), 3u);
    EXPECT_EQ(found[i][0].text, expected[i]);
    EXPECT_GE(found[i][0].score, found[i][1].score);
    EXPECT_NEAR(std::accumulate(found[i][0].token_log_probs.begin(), found[i][0].token_log_probs.end(), 0.0),
                found[i][0].log_prob, 1e-4);
  }
  ASSERT_EQ(found[1].size(), 1u);
  EXPECT_EQ(found[1][0].text, "");
}

// Also of a line in segments. Each segment ends with </s> or at the length limit.
TEST_F(TextTranslatorTest, GivesThePiecesOfItsLogProbabilities) {
  for (const int max_length : {1000, 2})
    for (const int longest : {1, 30}) {
      TextTranslator translator(engine, {.models = {model}, .max_length = max_length});
      TranslatedText found;
      translator.submit(
          {.text = lines[2], .search = {.max_length_add = longest}}, [&](auto best) { found = best[0]; },
          [](const auto&) { FAIL(); });
      while (translator.step()) {}
      EXPECT_FALSE(found.pieces.empty());
      EXPECT_EQ(found.pieces.size(), found.token_log_probs.size());
      std::erase(found.pieces, "</s>");
      if (max_length == 2) continue;  // blanks between segments are no pieces
      EXPECT_EQ(tiny.vocabularies.target.decode_pieces(found.pieces), found.text);
    }
}

TEST_F(TextTranslatorTest, DrawsAsManyTranslationsAsAreWantedWhateverTheBeam) {
  const auto drawn = [&](const SearchOptions& search) {
    return TextTranslator(engine, {.models = {model}, .search = search}).translate(lines);
  };
  const SearchOptions search{.max_length_add = 5, .sampling = Sampling::full};
  SearchOptions several = search, one = search;
  several.n_best = 7, one.beam_size = 1;
  EXPECT_EQ(drawn(search), drawn(one));
  TextTranslator translator(engine, {.models = {model}, .search = several});
  size_t found = 0;
  translator.submit(
      {.text = lines[0], .search = several}, [&](auto best) { found = best.size(); },
      [](std::exception_ptr) { FAIL(); });
  while (translator.step()) {}
  EXPECT_EQ(found, 7u);
}

TEST_F(TextTranslatorTest, BeginsATranslationAsTold) {
  TextTranslator translator(engine, {.models = {model}});
  std::string found;
  translator.submit(
      {.text = "a red house", .search = {.max_length_add = 5}, .prefix = "the"},
      [&](auto best) { found = best[0].text; }, [](std::exception_ptr) { FAIL(); });
  while (translator.step()) {}
  EXPECT_THAT(found, testing::StartsWith("the"));
}

TEST_F(TextTranslatorTest, ForgetsRequestsThatAreCancelledAndRefusesSenselessOnes) {
  TextTranslator translator(engine, {.models = {model}});
  int answered = 0;
  const auto submit = [&](const SearchOptions& search) {
    return translator.submit(
        {.text = "the book", .search = search}, [&](auto) { ++answered; }, [](std::exception_ptr) { FAIL(); });
  };
  const SearchOptions slow{.max_length_add = 50, .min_length = 50};
  const auto first = submit(slow), second = submit(slow);
  EXPECT_TRUE(translator.step());
  EXPECT_TRUE(translator.cancel(second));
  EXPECT_FALSE(translator.cancel(second));
  EXPECT_THAT([&] { submit({.beam_size = 0}); }, ThrowsMessage<Error>(HasSubstr("--beam-size: 0")));
  while (translator.step()) {}
  EXPECT_EQ(answered, 1) << "a request that is refused leaves the others";
  EXPECT_FALSE(translator.cancel(first)) << "it is done";
}

// A function that receives an answer is called during a step, which continues.
TEST_F(TextTranslatorTest, ContinuesAfterARequestThatACallbackCouldNotSubmit) {
  save_with_words(tiny, model);
  TextTranslator translator(engine, {.models = {model}});
  const TranslationRequest slow{.text = "a red house", .search = {.max_length_add = 20, .min_length = 20}};
  const auto failed = [](std::exception_ptr) { FAIL(); };
  bool fails = true;
  for (int n = 1; fails && n < 1000; ++n) {
    int answered = 0;
    const auto count = [&](auto) { ++answered; };
    translator.submit(slow, count, failed);
    translator.submit(
        {.text = ""},
        [&](auto) {
          TranslationRequest more = slow;
          const FailingMemory failing(n, FailingMemory::Fails::once, FailingMemory::In::this_thread);
          try {
            translator.submit(std::move(more), count, failed);
          } catch (const std::bad_alloc&) {}
          fails = FailingMemory::failed();
        },
        failed);
    while (translator.step()) {}
    EXPECT_EQ(answered, fails ? 1 : 2) << n;
  }
  EXPECT_FALSE(fails);
}

TEST_F(TextTranslatorTest, MakesTranslationsContainTermsAndPhrases) {
  const std::string glossary = folder.make("terms", "red\tkaum rot\n");
  TextTranslator translator(engine, {.models = {model}, .glossary = glossary, .search = {.max_length_add = 5}});
  EXPECT_THAT(translator.translate({"the red house"})[0], HasSubstr("kaum rot"));
  std::string found;
  const auto done = [&](std::vector<TranslatedText> best) { found = best[0].text; };
  const auto failed = [](std::exception_ptr) { FAIL(); };
  TranslationRequest request{.text = "the red house", .phrases = {"das Haus", ""}};
  translator.submit(request, done, failed);
  while (translator.step()) {}
  EXPECT_THAT(found, testing::AllOf(HasSubstr("kaum rot"), HasSubstr("das Haus")));
  request = {.text = "the red house", .glossary = translator.glossary({{"house", "mein Haus"}})};
  translator.submit(request, done, failed);
  while (translator.step()) {}
  EXPECT_THAT(found, testing::AllOf(HasSubstr("kaum rot"), HasSubstr("mein Haus")));
  request.glossary = translator.glossary({{"red", "fast rot"}});
  translator.submit(request, done, failed);
  while (translator.step()) {}
  EXPECT_THAT(found, testing::AllOf(HasSubstr("fast rot"), testing::Not(HasSubstr("kaum rot"))));
  request.search.sampling = Sampling::full;
  EXPECT_THAT([&] { translator.submit(request, done, failed); }, ThrowsMessage<Error>(HasSubstr("sampling")));
}

TEST_F(TextTranslatorTest, AvoidsPhrases) {
  const std::string line = "the red house";
  TextTranslator free(engine, {.models = {model}, .search = {.max_length_add = 5}});
  const std::string text = free.translate({line})[0], first = text.substr(0, text.find(' '));
  TextTranslator translator(
      engine, {.models = {model}, .avoid = folder.make("phrases", first + "\n"), .search = {.max_length_add = 5}});
  const std::string second = translator.translate({line})[0];
  EXPECT_NE(second.substr(0, second.find(' ')), first);
  std::string found;
  const auto done = [&](std::vector<TranslatedText> best) { found = best[0].text; };
  const auto failed = [](std::exception_ptr) { FAIL(); };
  const std::string word = second.substr(0, second.find(' '));
  for (const Sampling sampling : {Sampling::none, Sampling::full}) {
    translator.submit({.text = line,
                       .search = {.max_length_add = 5, .sampling = sampling},
                       .avoid = translator.forbidden_phrases({word})},
                      done, failed);
    while (translator.step()) {}
    EXPECT_NE(found.substr(0, found.find(' ')), first);
    EXPECT_NE(found.substr(0, found.find(' ')), word);
  }
  EXPECT_THAT(refused({.models = {model}, .avoid = folder / "none"}), ThrowsMessage<Error>(HasSubstr("none")));
  EXPECT_THAT(refused({.models = {model},
                       .glossary = folder.make("terms", "a\tx\nb\tmein Haus\n"),
                       .avoid = folder.make("house", "Haus\n")}),
              ThrowsMessage<Error>(HasSubstr("terms, line 2: the translation 'mein Haus'")));
}

TEST_F(TextTranslatorTest, RefusesWhatCannotTranslate) {
  EXPECT_THAT(refused({.models = {model}, .glossary = folder / "none"}), ThrowsMessage<Error>(HasSubstr("none")));
  EXPECT_THAT(refused({.models = {model}, .glossary = "terms", .search = {.sampling = Sampling::full}}),
              ThrowsMessage<Error>(HasSubstr("a glossary is for a search")));
  EXPECT_THAT(refused({}), ThrowsMessage<Error>(HasSubstr("no model")));
  EXPECT_THAT(refused({.models = {folder / "none"}}), ThrowsMessage<Error>(HasSubstr("none")));
  EXPECT_THAT(refused({.models = {model}, .search = {.beam_size = 0}}),
              ThrowsMessage<Error>(HasSubstr("--beam-size: 0")));
  EXPECT_THAT(refused({.models = {model}, .search = {.normalize = -1}}),
              ThrowsMessage<Error>(HasSubstr("--normalize: -1")));
  EXPECT_THAT(refused({.models = {model}, .max_length = 0}), ThrowsMessage<Error>(HasSubstr("max_length is 0")));
  EXPECT_THAT(refused({.models = {model}, .weights = {1, 2}}), ThrowsMessage<Error>(HasSubstr("--weights has 2")));
  EXPECT_THAT(refused({.models = {model}, .precision = Precision::float16}),
              ThrowsMessage<Error>(HasSubstr("float16")));
  EXPECT_THAT(refused({.models = {model}, .precision = Precision(99)}),
              ThrowsMessage<Error>("precision is 99, expected 0 to 4"));
  EXPECT_THAT(refused({.models = {model}, .search = {.rule = SearchRule(-1)}}),
              ThrowsMessage<Error>("rule is -1, expected 0 to 5"));
  EXPECT_THAT(refused({.models = {model}, .shortlist = folder / "none"}), ThrowsMessage<Error>(HasSubstr("none")));
  const std::string other = save_toy_model(folder / "other", 1, toy_config(), toy_vocabulary("unigram"));
  EXPECT_THAT(refused({.models = {model, other}}), ThrowsMessage<Error>(HasSubstr("their source vocabularies differ")));
}

}  // namespace
}  // namespace dragoman
