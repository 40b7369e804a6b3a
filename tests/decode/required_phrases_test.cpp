#include "decode/required_phrases.h"

#include <gmock/gmock.h>

#include "backend/registry.h"
#include "tests/decode/letters.h"
#include "tests/decode/toy_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Pieces = std::vector<int32_t>;

RequiredPhrases::State after(const RequiredPhrases& phrases, const Pieces& pieces) {
  RequiredPhrases::State state = phrases.begin();
  for (const int32_t piece : pieces) state = phrases.advance(state, piece);
  return state;
}

TEST(RequiredPhrases, AreCompleteWhenAllHaveOccurred) {
  const RequiredPhrases phrases({{{a, b}, {c}}});
  EXPECT_FALSE(phrases.are_in(Pieces{}));
  EXPECT_FALSE(phrases.are_in(Pieces{a, b}));
  EXPECT_FALSE(phrases.are_in(Pieces{c, a, c, b}));
  EXPECT_TRUE(phrases.are_in(Pieces{a, b, c}));
  EXPECT_TRUE(phrases.are_in(Pieces{c, b, a, a, b}));
}

TEST(RequiredPhrases, MayBeAbandonedAndBegunAgain) {
  const RequiredPhrases phrases({{{a, a, b}}});
  EXPECT_EQ(phrases.progress(after(phrases, {a, a})), 2);
  EXPECT_EQ(phrases.progress(after(phrases, {a, a, a})), 2) << "the last two still begin it";
  EXPECT_EQ(phrases.progress(after(phrases, {a, a, c})), 0);
  EXPECT_TRUE(phrases.are_in(Pieces{a, a, a, b}));
}

TEST(RequiredPhrases, ThatAreNamedTwiceMustOccurTwice) {
  const RequiredPhrases phrases({{{a, b}, {a, b}}});
  EXPECT_FALSE(phrases.are_in(Pieces{a, b, c}));
  EXPECT_TRUE(phrases.are_in(Pieces{a, b, c, a, b}));
}

TEST(RequiredPhrases, InsideAnotherNeedAnOccurrenceOfTheirOwn) {
  const RequiredPhrases phrases({{{a, b, c}, {b}}});
  EXPECT_FALSE(phrases.are_in(Pieces{a, b, c}));
  EXPECT_TRUE(phrases.are_in(Pieces{a, b, c, b}));
  EXPECT_TRUE(phrases.are_in(Pieces{b, a, b, c}));
}

TEST(RequiredPhrases, MayOverlap) {
  const RequiredPhrases phrases({{{a, b}, {b, c}}});
  EXPECT_TRUE(phrases.are_in(Pieces{a, b, c}));
  EXPECT_TRUE(phrases.are_in(Pieces{b, c, a, b}));
}

TEST(RequiredPhrases, OccurInTheirOrderIfTheyAreOrdered) {
  const RequiredPhrases phrases({{{b, c}, {a, b}, {c}}, true});
  EXPECT_TRUE(phrases.are_in(Pieces{a, b, c, a, b, a, c}));
  EXPECT_FALSE(phrases.are_in(Pieces{a, b, c, a, b})) << "c must come again";
  EXPECT_FALSE(phrases.are_in(Pieces{a, b, b, c, c}));
  EXPECT_THAT(phrases.next(after(phrases, {b})), ElementsAre(b, c)) << "to begin again, or to continue";
  EXPECT_THAT(phrases.next(after(phrases, {b, c})), ElementsAre(a));
  EXPECT_EQ(phrases.progress(after(phrases, {b, c, a})), 3);
}

TEST(RequiredPhrases, ContinueWithWhatIsNeeded) {
  const RequiredPhrases phrases({{{a, b}, {a, c}, {b, b}}});
  EXPECT_THAT(phrases.next(phrases.begin()), ElementsAre(a, b));
  EXPECT_THAT(phrases.next(after(phrases, {a})), ElementsAre(a, b, c));
  EXPECT_THAT(phrases.next(after(phrases, {a, b, b})), ElementsAre(a)) << "a c is left";
  EXPECT_THAT(phrases.next(after(phrases, {a, b, b, a})), ElementsAre(a, c));
  EXPECT_THAT(phrases.next(after(phrases, {a, b, b, a, c})), IsEmpty());
}

// All sequences of up to `longest` pieces.
std::vector<Pieces> all_sequences(int longest) {
  std::vector<Pieces> all = {{}};
  for (size_t i = 0; i < all.size(); ++i)
    if (int(all[i].size()) < longest)
      for (const int32_t piece : {a, b, c}) {
        all.push_back(all[i]);
        all.back().push_back(piece);
      }
  return all;
}

int occurrences(const Phrase& phrase, const Pieces& pieces) {
  int count = 0;
  for (size_t i = 0; i + phrase.size() <= pieces.size(); ++i)
    count += std::equal(phrase.begin(), phrase.end(), pieces.begin() + ptrdiff_t(i));
  return count;
}

// What the header says, by plain counting.
bool contains(const Pieces& pieces, const Phrases& phrases) {
  if (phrases.ordered) {
    auto from = pieces.begin();
    for (const Phrase& p : phrases.all) {
      from = std::search(from, pieces.end(), p.begin(), p.end());
      if (from == pieces.end()) return false;
      from += std::ssize(p);
    }
    return true;
  }
  return std::ranges::all_of(phrases.all, [&](const Phrase& p) {
    int needed = 0;
    for (const Phrase& other : phrases.all) needed += occurrences(p, other);
    return occurrences(p, pieces) >= needed;
  });
}

std::vector<Phrases> phrase_sets() {
  std::vector<Phrases> sets = {{{{a}}},
                               {{{a, b}}},
                               {{{c}, {c}}},
                               {{{a, b}, {b, c}}},
                               {{{a, b, c}, {b}}},
                               {{{a, a}, {a, a, b}}},
                               {{{b, a, b}, {a, b}}},
                               {{{a}, {b}, {c}, {a}}}};
  for (size_t i = sets.size(); i-- > 0;) sets.push_back({sets[i].all, true});
  return sets;
}

TEST(RequiredPhrases, AreFoundByCounting) {
  for (const Phrases& set : phrase_sets()) {
    const RequiredPhrases phrases(set);
    for (const Pieces& pieces : all_sequences(6)) {
      EXPECT_EQ(phrases.are_in(pieces), contains(pieces, set));
      const auto state = after(phrases, pieces);
      EXPECT_EQ(phrases.next(state).empty(), phrases.complete(state));
      for (const int32_t piece : phrases.next(state))
        EXPECT_GT(phrases.progress(phrases.advance(state, piece)), 0) << "it leads on";
    }
  }
}

class PhraseSearch : public testing::Test {
 protected:
  std::vector<Hypothesis> find(const Sentence& sentence, const SearchOptions& options,
                               SearchRule rule = SearchRule::marian, const Shortlist* shortlist = nullptr) {
    std::vector<Ensemble::Member> members;
    members.push_back({std::make_unique<ToyDecoding>()});
    Conventions conventions = conventions_of();
    conventions.rule = rule;
    return found_by({cx, std::move(members), std::move(conventions)}, options, {sentence}, 1 << 20, shortlist)[0];
  }
  static double log_prob_of(Pieces source, const Pieces& ids) {
    source.push_back(eos_id);
    Pieces prefix;
    double sum = 0;
    for (const int32_t id : ids) {
      sum += log_prob(ToyDecoding::logits(source, prefix), id);
      prefix.push_back(id);
    }
    return sum + log_prob(ToyDecoding::logits(source, prefix), eos_id);
  }

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
};

TEST_F(PhraseSearch, FindsTheBestOfAllSequencesThatHaveThem) {
  constexpr int longest = 6;
  for (const SearchRule rule : {SearchRule::marian, SearchRule::fairseq})
    for (const Phrases& set : phrase_sets())
      for (const Pieces& source : {Pieces{a, b, b}, {c, a, c}}) {
        if (set.pieces() > 4) continue;
        double best = -INFINITY;
        for (const Pieces& ids : all_sequences(longest - 1))
          if (contains(ids, set)) best = std::max(best, log_prob_of(source, ids));
        // Marian's rule has no </s> after the last piece of the greatest length.
        const int most = rule == SearchRule::fairseq ? longest - 1 : longest;
        const SearchOptions options{.beam_size = 800, .normalize = 0, .max_length_add = most - 3};
        const auto found = find({.source = source, .phrases = set}, options, rule);
        EXPECT_TRUE(contains(found[0].ids, set));
        const bool at_limit = found[0].length == int(found[0].ids.size());  // without </s>, so it may be better
        EXPECT_NEAR(std::min(found[0].log_prob, at_limit ? best : INFINITY), best, 1e-4);
      }
}

// With beams of any size, by every rule, whatever else is asked for.
TEST_F(PhraseSearch, AlwaysFindsATranslationThatHasThem) {
  for (const SearchRule rule :
       {SearchRule::marian, SearchRule::huggingface, SearchRule::fairseq, SearchRule::ctranslate2})
    for (const Phrases& set : phrase_sets())
      for (const int beam_size : {1, 2, 5})
        for (const SearchOptions& options : {SearchOptions{.beam_size = beam_size, .n_best = beam_size},
                                             {.beam_size = beam_size, .min_length = 9},
                                             {.beam_size = beam_size, .no_repeat_ngram = 2},
                                             {.beam_size = beam_size, .max_length_factor = 0.1}})
          for (const Sentence& s :
               {Sentence{.source = {a, b, b}, .phrases = set}, {.source = {c}, .prefix = {b, b, a}, .phrases = set}}) {
            const auto found = find(s, options, rule);
            EXPECT_TRUE(contains(found[0].ids, set));
            EXPECT_TRUE(std::equal(s.prefix.begin(), s.prefix.end(), found[0].ids.begin()));
          }
}

TEST_F(PhraseSearch, AddsThemToAShortlist) {
  const Shortlist none{.first = {eos_id}, .begins = std::vector<int32_t>(7), .target_vocabulary = 6};
  EXPECT_THAT(find({.source = {a, b}, .phrases = {{{c, a}, {c}}}}, {}, SearchRule::marian, &none)[0].ids,
              testing::Contains(a));
}

TEST_F(PhraseSearch, LeavesOutWhatIsNeverPredicted) {
  const Sentence plain{.source = {a, b}}, impossible{.source = {a, b}, .phrases = {{{a, unk_id}}}};
  for (const bool allow_unk : {false, true})
    EXPECT_EQ(find(impossible, {.allow_unk = allow_unk}), find(plain, {.allow_unk = allow_unk}));
}

// No line waits for phrases that cannot come, and those that have them rank first.
TEST_F(PhraseSearch, EndsAtTheLengthLimitWithoutThem) {
  const SearchOptions options{.beam_size = 3, .n_best = 3};
  Sentence sentence{.source = {a, b}, .phrases = {{{a, b}}}};
  sentence.constraints.push_back(begins_with(Pieces(60, c)));
  const auto found = find(sentence, options);
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(contains(found[0].ids, sentence.phrases));
}

// A translation that has the phrases anyway is found as without.
TEST_F(PhraseSearch, ChangesNothingIfTheBestTranslationHasThem) {
  const SearchOptions options{.beam_size = 200, .normalize = 0, .max_length_add = 2, .min_length = 3};
  const auto free = find({.source = {a, c, b}}, options)[0];
  ASSERT_GE(free.ids.size(), 2u);
  const auto found = find({.source = {a, c, b}, .phrases = {{{free.ids[0]}, {free.ids[1]}}}}, options)[0];
  EXPECT_EQ(found.ids, free.ids);
  EXPECT_EQ(found.log_prob, free.log_prob);
}

}  // namespace
}  // namespace dragoman
