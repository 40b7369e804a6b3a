#include <gmock/gmock.h>

#include <array>
#include <random>

#include "decode/forbidden_phrases.h"
#include "decode/translator.h"
#include "score/scorer.h"
#include "tests/decode/letters.h"
#include "tests/decode/phrases_in_text.h"
#include "tests/decode/tiny_translator.h"
#include "tests/decode/toy_decoding.h"
#include "text/characters.h"

namespace dragoman {
namespace {

using Words = std::vector<std::string>;
using Pieces = std::vector<int32_t>;

/// Searches of the toy model, whose pieces 3, 4 and 5 are the words a, b and c.
class ToyAvoiding : public testing::Test {
 protected:
  std::vector<Hypothesis> find(Sentence sentence, const SearchOptions& options, const Words& phrases,
                               SearchRule rule = SearchRule::marian, int models = 1) {
    sentence.constraints.push_back(std::make_shared<const ForbiddenPhrases>(phrases, texts));
    std::vector<Ensemble::Member> members;
    for (int m = 0; m < models; ++m) members.push_back({std::make_unique<ToyDecoding>(1000 + m), 1.0 / models});
    Conventions conventions = conventions_of();
    conventions.rule = rule;
    return found_by({cx, std::move(members), std::move(conventions)}, options, {sentence})[0];
  }
  std::string text_of(const Pieces& ids) const { return texts->vocabulary().decode(ids); }
  // The log-probability of the best of all sequences without the phrases.
  double best_without(const Words& phrases, Pieces source, size_t longest) const {
    source.push_back(eos_id);
    double best = -INFINITY;
    std::vector<std::pair<Pieces, double>> all = {{{}, 0}};
    for (size_t i = 0; i < all.size(); ++i) {
      const auto [ids, so_far] = all[i];
      const auto logits = ToyDecoding::logits(source, ids);
      best = std::max(best, so_far + log_prob(logits, eos_id));
      for (int32_t id = a; id <= c && ids.size() < longest; ++id) {
        Pieces longer = ids;
        longer.push_back(id);
        const auto occurs = [&](const std::string& phrase) { return has_phrase(text_of(longer), phrase); };
        if (std::ranges::none_of(phrases, occurs)) all.emplace_back(longer, so_far + log_prob(logits, id));
      }
    }
    return best;
  }

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
  std::shared_ptr<const PieceTexts> texts = std::make_shared<const PieceTexts>(Vocabulary::from_list(
      {.special = {.unk = unk_id, .bos = bos_id, .eos = eos_id}, .pieces = special_and_words()}, "words"));

 private:
  static Words special_and_words() {
    Words pieces(6);
    pieces[size_t(unk_id)] = "<unk>", pieces[size_t(bos_id)] = "<s>", pieces[size_t(eos_id)] = "</s>";
    pieces[a] = "a", pieces[b] = "b", pieces[c] = "c";
    return pieces;
  }
};

// With a beam for all sequences.
TEST_F(ToyAvoiding, FindsTheBestOfWhatIsNotForbidden) {
  const SearchOptions options{.beam_size = 800, .normalize = 0, .max_length_add = 3};
  for (const Words& phrases : {Words{"a"}, {"a b", "c"}, {"b b", "b c", "a a"}, {"a", "b", "c"}})
    for (const Pieces& source : {Pieces{a, b}, {c, a}, {b, b}})
      EXPECT_NEAR(find({.source = source}, options, phrases, SearchRule::fairseq)[0].log_prob,
                  best_without(phrases, source, 4), 1e-4);
}

TEST_F(ToyAvoiding, NeverWritesAPhraseAndAlwaysEnds) {
  const Words phrases = {"a b", "c", "b b"};
  for (const SearchRule rule :
       {SearchRule::marian, SearchRule::huggingface, SearchRule::fairseq, SearchRule::ctranslate2})
    for (const SearchOptions& options : {SearchOptions{.beam_size = 1},
                                         {.beam_size = 4, .n_best = 4},
                                         {.beam_size = 2, .min_length = 8},
                                         {.beam_size = 3, .no_repeat_ngram = 2},
                                         {.n_best = 3, .sampling = Sampling::full},
                                         {.n_best = 3, .sampling = Sampling::topk, .sampling_pieces = 1},
                                         {.sampling = Sampling::nucleus}})
      for (const int models : {1, 2})
        for (const Pieces& source : {Pieces{a, b, b}, {c, a, c, a}}) {
          const auto found = find({.source = source}, resolved(options), phrases, rule, models);
          ASSERT_FALSE(found.empty());
          for (const Hypothesis& h : found)
            for (const std::string& phrase : phrases)
              EXPECT_FALSE(has_phrase(text_of(h.ids), phrase)) << text_of(h.ids);
        }
  EXPECT_EQ(find({.source = {a, b}}, {.min_length = 3}, {"a", "b", "c"})[0].ids, Pieces()) << "nothing is left";
}

// Otherwise the search would wait for them until the length limit.
TEST_F(ToyAvoiding, DecidesAgainstRequiredPhrases) {
  const SearchOptions options{.beam_size = 3};
  const Sentence with_phrases{.source = {a, b}, .phrases = {{{a, b}, {c}}}};
  const auto found = find(with_phrases, options, {"b"});
  EXPECT_EQ(found, find({.source = {a, b}, .phrases = {{{c}}}}, options, {"b"}));
  EXPECT_THAT(found[0].ids, testing::Contains(c));
  const auto both = find(with_phrases, options, {"c a", "b c"})[0].ids;
  EXPECT_THAT(both, testing::IsSupersetOf({a, b, c}));
  EXPECT_FALSE(has_phrase(text_of(both), "c a") || has_phrase(text_of(both), "b c"));
}

TEST_F(ToyAvoiding, LeavesAForcedBeginningAndContinuesIt) {
  const auto found =
      find({.source = {a, b, c}, .prefix = {a, b, a}}, {.beam_size = 2, .min_length = 6}, {"a b", "a c", "a a"});
  ASSERT_GE(found[0].ids.size(), 3u);
  EXPECT_EQ(Pieces(found[0].ids.begin(), found[0].ids.begin() + 3), (Pieces{a, b, a}));
  EXPECT_EQ(found[0].ids.size(), 3u) << "only the end may follow a";
}

/// A model with random weights writes any text. Lines in segments, too.
class Avoiding : public testing::Test {
 protected:
  Avoiding() {
    options.max_length = 12;
    search.max_length_add = 10;
  }
  std::shared_ptr<const ForbiddenPhrases> of(const Words& phrases) const {
    return std::make_shared<const ForbiddenPhrases>(phrases, texts);
  }
  Words translate(const Words& phrases, int searches = 1) {
    Translator translator(std::array{TranslatingModel{&tiny.cx, tiny.model.get()}}, tiny.vocabularies, options, search,
                          {.avoid = phrases.empty() ? nullptr : of(phrases)}, searches);
    return translator.translate(lines);
  }
  // A word of each translation, some with the next one.
  Words some_words(const Words& translations, std::mt19937& random) const {
    Words words;
    for (const std::string& text : translations) {
      std::vector<size_t> ends;  // of words and of what is between them
      for (size_t at = 0; at < text.size();)
        if (character_at(text, at); is_boundary(text, at)) ends.push_back(at);
      if (ends.empty()) continue;
      const size_t first = random() % ends.size(), last = std::min(first + random() % 3, ends.size() - 1);
      const size_t begin = first == 0 ? 0 : ends[first - 1];
      const ByteRange range = without_blanks(text, {begin, ends[last]});
      const std::string word = text.substr(range.begin, range.size());
      if (!word.empty() && word.find("\uFFFD") == word.npos) words.push_back(word);
    }
    return words;
  }

  TinyModel tiny;
  std::shared_ptr<const PieceTexts> texts = std::make_shared<const PieceTexts>(tiny.vocabularies.target);
  TranslateOptions options;
  SearchOptions search;
  const Words lines = {"the old house is new", "a red book", "", "the house", "one two three four five", "x y z"};
};

TEST_F(Avoiding, NoTranslationHasThePhrasesHoweverLinesAreBatched) {
  std::mt19937 random(7);
  int differ = 0;
  for (const int beam_size : {1, 4}) {
    search.beam_size = beam_size;
    const Words free = translate({});
    for (int trial = 0; trial < 6; ++trial) {
      const Words phrases = some_words(free, random);
      const Words found = translate(phrases);
      ASSERT_EQ(found.size(), lines.size());
      for (size_t i = 0; i < lines.size(); ++i) {
        bool had_one = false;
        for (const std::string& phrase : phrases) {
          EXPECT_FALSE(has_phrase(found[i], phrase)) << found[i] << "|" << phrase;
          had_one |= has_phrase(free[i], phrase);
        }
        EXPECT_EQ(found[i].empty(), lines[i].empty());
        differ += had_one;
      }
      EXPECT_EQ(translate(phrases, 3), found);
      options.mini_batch_words = 1;
      EXPECT_EQ(translate(phrases), found);
      options.mini_batch_words = 0;
    }
    EXPECT_EQ(translate({"no such text anywhere", "nor this"}), free);
  }
  EXPECT_GT(differ, 20) << "the phrases matter";
}

// There are more forbidden pieces than a step asks the best of.
TEST_F(Avoiding, ManyPiecesAtOnce) {
  for (const Sampling sampling : {Sampling::none, Sampling::topk}) {
    search.sampling = sampling;
    search.beam_size = sampling == Sampling::none ? 2 : 1;
    Words letters;
    for (char letter = 'a'; letter <= 'w'; ++letter)
      for (const char* form : {"{}", "{}e", "{}n", "x{}"}) letters.push_back(fmt::format(fmt::runtime(form), letter));
    Words most;
    for (int32_t id = 0; id < tiny.vocabularies.target.size(); ++id)
      if (const std::u32string_view text = texts->of(id); id % 8 != 0 && !text.empty() && text != U" ")
        if (!word_role(int32_t(text[0])).mark) most.push_back(tiny.vocabularies.target.decode(Pieces{id}));
    for (const Words& phrases : {letters, most}) {
      for (const std::string& text : translate(phrases))
        for (const std::string& phrase : phrases) EXPECT_FALSE(has_phrase(text, phrase)) << text << "|" << phrase;
    }
  }
}

TEST_F(Avoiding, LeavesScoresThoseOfTheModel) {
  search.beam_size = 4, search.n_best = 1;
  std::mt19937 random(5);
  const Words phrases = some_words(translate({}), random);
  Translator translator(std::array{TranslatingModel{&tiny.cx, tiny.model.get()}}, tiny.vocabularies, options, search,
                        {.avoid = of(phrases)});
  for (const std::string& line : {lines[0], lines[1]}) {
    std::vector<Translation> best;
    translator.submit(
        {.text = line, .search = search}, [&](auto found) { best = std::move(found); }, [](auto) { FAIL(); });
    while (!translator.idle()) translator.step();
    Pieces target = best[0].ids;
    if (target.empty() || target.back() != eos_id) continue;  // cut by the limit
    Pieces source = tiny.vocabularies.source.encode(line);
    source.push_back(eos_id);
    const std::vector<IdPair> pairs = {{source, target}};
    const double expected = score_pairs({tiny.cx.backend, tiny.arena, tiny.packed}, *tiny.model, pairs, 1000)[0];
    EXPECT_NEAR(best[0].log_prob, expected, 1e-4);
  }
}

TEST_F(Avoiding, RequestsAddTheirOwn) {
  Translator translator(std::array{TranslatingModel{&tiny.cx, tiny.model.get()}}, tiny.vocabularies, options, search,
                        {.avoid = of({"a", "e"})});
  std::string text;
  const auto ask = [&](std::shared_ptr<const ForbiddenPhrases> avoid, const std::string& prefix = "") {
    translator.submit(
        {.text = lines[0], .search = search, .prefix = prefix, .avoid = std::move(avoid)},
        [&](auto best) { text = best[0].text; }, [](auto) { FAIL(); });
    while (!translator.idle()) translator.step();
    return text;
  };
  const std::string first = ask(nullptr);
  const size_t end = first.find(' ', 1);
  const std::string word = first.substr(0, end);
  EXPECT_FALSE(has_phrase(ask(of({word})), word));
  EXPECT_EQ(ask(nullptr), first);
  EXPECT_THAT(ask(of({"Haus"}), "das Haus"), testing::StartsWith("das Haus"));
}

}  // namespace
}  // namespace dragoman
