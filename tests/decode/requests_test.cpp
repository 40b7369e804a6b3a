#include <gmock/gmock.h>

#include "backend/registry.h"
#include "base/error.h"
#include "tests/decode/letters.h"
#include "tests/decode/toy_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using Pieces = std::vector<int32_t>;
using Options = Search::Options;

Options options_of(SearchOptions options) { return std::make_shared<const SearchOptions>(options); }

class Requests : public testing::Test {
 protected:
  Requests() {
    auto decoding = std::make_unique<ToyDecoding>();
    toy = decoding.get();
    std::vector<Ensemble::Member> members;
    members.push_back({std::move(decoding)});
    search.emplace(Ensemble(cx, std::move(members)), 1 << 20);
  }
  Search::Ticket add(const Sentence& sentence, const Options& options, std::vector<Hypothesis>& found) {
    return search->add(sentence, options, Wanted::log_probs, [&](std::vector<Hypothesis> best) { found = best; });
  }
  std::vector<Hypothesis> alone(const Sentence& sentence, const Options& options) {
    Requests other;
    std::vector<Hypothesis> found;
    other.add(sentence, options, found);
    other.finish();
    return found;
  }
  void finish() {
    while (!search->idle()) search->step();
  }
  void TestBody() override {}

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
  ToyDecoding* toy = nullptr;
  std::optional<Search> search;
};

TEST_F(Requests, WithOptionsOfTheirOwnAreAnsweredAsIfEachWereAlone) {
  const std::vector<std::pair<Sentence, Options>> requests = {
      {{{a, b}}, options_of({.beam_size = 1})},
      {{{a, b}}, options_of({.beam_size = 4, .n_best = 3})},
      {{{c, a, b}, {b, b}}, options_of({.beam_size = 2, .min_length = 4})},
      {{{b}, {}, 7}, options_of({.beam_size = 3, .n_best = 3, .sampling = Sampling::full, .seed = 5})},
      {{{b, c}, {}, 8}, options_of({.beam_size = 2, .n_best = 2, .sampling = Sampling::topk, .sampling_pieces = 2})},
      {{{b, c}, {a}, 8}, options_of({.beam_size = 2, .sampling = Sampling::nucleus, .sampling_mass = 0.5})},
      {{{a, a, a}}, options_of({.beam_size = 5, .normalize = 0, .no_repeat_ngram = 2})}};
  std::vector<std::vector<Hypothesis>> found(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    add(requests[i].first, requests[i].second, found[i]);
    search->step();  // later ones join while earlier ones are half translated
  }
  finish();
  for (size_t i = 0; i < requests.size(); ++i)
    EXPECT_EQ(found[i], alone(requests[i].first, requests[i].second)) << "request " << i;
}

TEST_F(Requests, ThatAreCancelledLeaveTheOthersAsTheyAre) {
  const Options options = options_of({.beam_size = 3});
  const Sentence first{{a, b, c}}, second{{b, a}}, third{{c, c}};
  std::vector<Hypothesis> of_first, of_second, of_third;
  add(first, options, of_first);
  const auto active = add(second, options, of_second);
  search->step();
  const auto queued = add(third, options, of_third);
  EXPECT_TRUE(search->cancel(active));
  EXPECT_TRUE(search->cancel(queued));
  EXPECT_FALSE(search->cancel(active)) << "it is gone";
  finish();
  EXPECT_EQ(of_first, alone(first, options));
  EXPECT_TRUE(of_second.empty());
  EXPECT_TRUE(of_third.empty());
  EXPECT_EQ(search->tokens(), 0);
}

TEST_F(Requests, ThatThereIsNoMemoryForFailAlone) {
  const Options options = options_of({.beam_size = 2});
  toy->fails_at = 4;
  const Sentence small{{a, b}}, large{{a, b, c, a, b}};
  std::vector<Hypothesis> before, after;
  std::string error;
  add(small, options, before);
  search->add(
      large, options, Wanted::log_probs, [](std::vector<Hypothesis>) { FAIL() << "it cannot be translated"; },
      [&](std::exception_ptr e) {
        try {
          std::rethrow_exception(e);
        } catch (const Error& out) {
          error = out.what();
        }
      });
  add({{c}}, options, after);
  finish();
  EXPECT_THAT(error, testing::HasSubstr("the toy"));
  EXPECT_EQ(before, alone(small, options));
  EXPECT_EQ(after, alone({{c}}, options));
}

// There is memory for two sentences at once.
TEST_F(Requests, ThatThereIsNoMemoryForBesideOthersWait) {
  const Options options = options_of({.beam_size = 2});
  toy->most_at_once = 2;
  std::vector<Sentence> sentences;
  for (int32_t i = 0; i < 9; ++i) sentences.push_back({.source = std::vector<int32_t>(size_t(1 + i % 4), 3 + i % 3)});
  std::vector<std::vector<Hypothesis>> found(sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i)
    search->add(
        sentences[i], options, Wanted::log_probs, [&found, i](std::vector<Hypothesis> best) { found[i] = best; },
        [](const std::exception_ptr&) { FAIL() << "each has memory by itself"; });
  finish();
  EXPECT_EQ(toy->most_sentences, 2);
  for (size_t i = 0; i < sentences.size(); ++i) EXPECT_EQ(found[i], alone(sentences[i], options)) << i;
  EXPECT_EQ(search->tokens(), 0);
}

// Rows of the beams are 1, then 2 + 4 + 2; the step that is too large has gone through the first model already.
TEST_F(Requests, ThatAStepHasNoMemoryForFailAlone) {
  const Sentence first{{a, b}}, second{{c, a, b}}, third{{b, c}};
  const auto two = options_of({.beam_size = 2, .min_length = 3}), four = options_of({.beam_size = 4, .min_length = 3});
  auto one = std::make_unique<ToyDecoding>(), other = std::make_unique<ToyDecoding>(2000);
  other->most_rows = 6;
  std::vector<Ensemble::Member> members;
  members.push_back({std::move(one)});
  members.push_back({std::move(other)});
  Search scarce(Ensemble(cx, std::move(members)), 1 << 20);
  std::vector<Hypothesis> found[3];
  int failed = 0;
  const auto fail = [&](std::exception_ptr error) {
    ++failed;
    EXPECT_THROW(std::rethrow_exception(error), OutOfMemory);
  };
  const auto into = [&](int i) { return [&found, i](std::vector<Hypothesis> best) { found[i] = std::move(best); }; };
  scarce.add(first, two, Wanted::log_probs, into(0), fail);
  scarce.add(second, four, Wanted::log_probs, into(1), fail);
  scarce.add(third, two, Wanted::log_probs, into(2), fail);
  while (!scarce.idle()) scarce.step();
  EXPECT_EQ(failed, 1);
  EXPECT_TRUE(found[1].empty()) << "it takes most of the budget";
  EXPECT_EQ(scarce.tokens(), 0);
  for (const int i : {0, 2}) {
    std::vector<Ensemble::Member> both;
    both.push_back({std::make_unique<ToyDecoding>()});
    both.push_back({std::make_unique<ToyDecoding>(2000)});
    EXPECT_EQ(found[i], found_by(Ensemble(cx, std::move(both)), *two, {i == 0 ? first : third})[0]) << i;
  }
}

TEST_F(Requests, ReceivePartialTranslations) {
  for (const SearchOptions& options :
       {SearchOptions{.beam_size = 1}, SearchOptions{.beam_size = 2}, SearchOptions{.beam_size = 5, .n_best = 3},
        SearchOptions{.beam_size = 4, .normalize = 0, .no_repeat_ngram = 2},
        SearchOptions{.beam_size = 3, .rule = SearchRule::huggingface},
        SearchOptions{.beam_size = 3, .n_best = 3, .sampling = Sampling::full}}) {
    for (const Pieces& source : {Pieces{a}, Pieces{a, b, c}, Pieces{c, c, b, a, b, a}}) {
      std::vector<Pieces> partials;
      std::vector<Hypothesis> best;
      search->add(
          {source, {b}}, options_of(options), Wanted::pieces, [&](std::vector<Hypothesis> found) { best = found; }, {},
          [&](std::span<const int32_t> decided) { partials.emplace_back(decided.begin(), decided.end()); });
      finish();
      ASSERT_FALSE(partials.empty()) << "the forced prefix is decided";
      size_t before = 0;
      for (const Pieces& decided : partials) {
        EXPECT_GT(decided.size(), std::exchange(before, decided.size()));
        ASSERT_LE(decided.size(), best[0].ids.size());
        EXPECT_TRUE(std::equal(decided.begin(), decided.end(), best[0].ids.begin()));
      }
      if (options.beam_size == 1) {
        EXPECT_GE(partials.size() + 1, best[0].ids.size()) << "greedy search decides at once";
      }
    }
  }
}

// Allows a, then b, then a, …, and the end after an even number of them: a rule with states.
class InTurn : public Constraint {
 public:
  bool stateful() const override { return true; }
  State advance(State state, int32_t) const override { return 1 - state; }
  Allowed next(State state, const HypothesisView& past) const override {
    const bool may_end = state == 0 && past.length > 0;
    if (state == 1) return {.only = true, .ids = {b}};
    return may_end ? Allowed{.only = true, .ids = {eos_id, a}} : Allowed{.only = true, .ids = {a}};
  }
};

TEST_F(Requests, ObeyConstraintsOfTheirOwn) {
  const Options options = options_of({.beam_size = 3, .n_best = 3});
  std::vector<Hypothesis> ruled, free;
  add({.source = {a, b, c}, .constraints = {std::make_shared<InTurn>()}}, options, ruled);
  add({{a, b, c}}, options, free);
  finish();
  EXPECT_EQ(free, alone({{a, b, c}}, options));
  ASSERT_FALSE(ruled.empty());
  for (const Hypothesis& h : ruled)
    for (size_t i = 0; i < h.ids.size(); ++i) EXPECT_EQ(h.ids[i], i % 2 == 0 ? a : b);
}

TEST(Allowed, IsNarrowedToWhatBothAllow) {
  const auto narrowed = [](Allowed x, Allowed y) {
    x.narrow(std::move(y));
    return x;
  };
  const Allowed only{true, {1, 2, 3}}, other{true, {2, 3, 4}}, but{false, {2, 5}}, all{};
  EXPECT_THAT(narrowed(only, other).ids, ElementsAre(2, 3));
  EXPECT_THAT(narrowed(only, but).ids, ElementsAre(1, 3));
  EXPECT_THAT(narrowed(but, only).ids, ElementsAre(1, 3));
  EXPECT_TRUE(narrowed(but, only).only);
  EXPECT_THAT(narrowed(but, {false, {1, 2}}).ids, ElementsAre(1, 2, 5));
  EXPECT_THAT(narrowed(all, only).ids, ElementsAre(1, 2, 3));
  EXPECT_TRUE(all.contains(9) && only.contains(2) && !only.contains(9) && !but.contains(5) && but.contains(9));
}

}  // namespace
}  // namespace dragoman
