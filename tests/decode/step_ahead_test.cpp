#include <gmock/gmock.h>

#include <numeric>

#include "decode/beam_search.h"
#include "decode/ensemble.h"
#include "tests/decode/aligned_search.h"
#include "tests/decode/recorded_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using StepAhead = RecordedDecoding;

struct Calls {
  int64_t steps = 0, choices = 0;
};
Calls calls;

/// The device, counting the steps of searches and those that it prepares ahead.
Backend counting(const Backend& b) {
  Backend counting = b;
  counting.top_k = [](const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
    ++calls.steps;
    gpu_on_host().top_k(values, ids, lse, logits);
  };
  counting.next_rows = [](const Backend::NextRows& n) {
    ++calls.choices;
    gpu_on_host().next_rows(n);
  };
  return counting;
}

// Only the steps after the last one of all sentences are computed in vain, and those in which a sentence would begin
// are not computed ahead.
TEST_F(StepAhead, ComputesTheNextStepBeforeTheHostHasSeenThisOne) {
  const Sources some = sources(8, 10);
  for (const int beam : {1, 3}) {
    const SearchOptions options{.beam_size = beam, .max_length_add = 12, .n_best = beam};
    calls = {};
    const auto found = find(counting(plain), options, some, 1000);
    const Calls one_by_one = calls;
    EXPECT_EQ(one_by_one.choices, 0);
    calls = {};
    EXPECT_EQ(find(counting(device), options, some, 1000), found);
    EXPECT_GE(calls.choices, one_by_one.steps - 2) << beam;
    EXPECT_LE(calls.steps, one_by_one.steps + 1) << beam;
    calls = {};
    EXPECT_EQ(find(counting(device), options, some, 30), found);
    EXPECT_GE(calls.choices, calls.steps / 3) << beam;
  }
}

TEST_F(StepAhead, FindsTheSameAlignments) {
  const Sources some = sources(8, 10);
  const auto aligned = [&](const Backend& b, const SearchOptions& options, int64_t tokens) {
    Context cx{.backend = b, .arena = arena, .packed = &packed};
    return aligned_search(cx, *model, options, tokens, some);
  };
  for (const int beam : {1, 3}) {
    const SearchOptions options{.beam_size = beam, .max_length_add = 12, .n_best = beam};
    for (const int64_t tokens : {30, 1000}) {
      calls = {};
      const auto found = aligned(counting(device), options, tokens);
      EXPECT_GT(calls.choices, 0);
      const auto expected = aligned(plain, options, tokens);
      for (size_t s = 0; s < some.size(); ++s) {
        EXPECT_EQ(found[s].best, expected[s].best) << beam;
        ASSERT_EQ(found[s].alignments.size(), found[s].best.size());
        for (size_t rank = 0; rank < found[s].best.size(); ++rank) {
          EXPECT_EQ(found[s].alignments[rank].targets(), found[s].best[rank].length);
          EXPECT_EQ(found[s].alignments[rank].weights, expected[s].alignments[rank].weights);
        }
      }
    }
  }
}

TEST_F(StepAhead, FindsTheSameWhateverTheRulesOfTheSearch) {
  const Sources some = sources(5, 8);
  for (const SearchOptions& options :
       {SearchOptions{.beam_size = 3, .max_length_add = 12, .no_repeat_ngram = 2, .n_best = 3},
        SearchOptions{.beam_size = 4, .rule = SearchRule::huggingface, .max_length_add = 12, .n_best = 4},
        SearchOptions{.beam_size = 4, .max_length_add = 2, .n_best = 2}})
    EXPECT_EQ(find(device, options, some, 60), find(plain, options, some, 60));
}

// A device encodes the sentences that wait, and begins their first step, before the caller hears of those that have
// ended.
TEST_F(StepAhead, BeginsWaitingSentencesBeforeTheCallerHearsOfOthers) {
  for (const Backend& b : {counting(device), counting(plain)}) {
    Context cx{.backend = b, .arena = arena, .packed = &packed};
    std::vector<Ensemble::Member> alone;
    alone.push_back({model->decode(cx)});
    Search search(Ensemble(cx, std::move(alone), conventions_of(model->config())), 4);
    const auto options = std::make_shared<const SearchOptions>(SearchOptions{.beam_size = 1, .max_length_add = 3});
    std::vector<int64_t> steps_begun;
    calls = {};
    for (int i = 0; i < 2; ++i)
      search.add({.source = {3, 4, 5}}, options, Wanted::pieces, [&](std::vector<Hypothesis>) {
        EXPECT_FALSE(search.queues());
        steps_begun.push_back(calls.steps);
      });
    int64_t steps = 0;
    for (; !search.idle(); ++steps) search.step();
    ASSERT_EQ(steps_begun.size(), 2);
    EXPECT_EQ(steps_begun[0], steps / 2 + (b.recorder ? 1 : 0)) << "with the first step of the second sentence";
    EXPECT_EQ(calls.steps, steps) << "no step is computed twice, and none after the last one";
  }
}

TEST_F(StepAhead, CopiesTheTablesOfAStepAtOnce) {
  Context cx{.backend = device, .arena = arena, .packed = &packed};
  std::vector<Ensemble::Member> alone;
  alone.push_back({model->decode(cx)});
  Search search(Ensemble(cx, std::move(alone), conventions_of(model->config())), 100);
  const SearchOptions options{.beam_size = 3, .max_length_add = 20, .n_best = 3};
  search.add({.source = {3, 4, 5}}, std::make_shared<const SearchOptions>(options), Wanted::pieces, [](auto) {});
  for (int step = 0; step < 5; ++step) search.step();
  const int64_t before = counts().uploads;
  search.step();
  ASSERT_FALSE(search.idle());
  EXPECT_EQ(counts().uploads - before, 2) << "the tables of the model, and those of the choice of rows";
}

// The host has the last word: where it decides otherwise, the step is repeated.
TEST_F(StepAhead, RepeatsStepsWhoseRowsAreOthers) {
  const Sources some = sources(5, 8);
  Backend other_pieces = counting(device), other_parents = other_pieces;
  other_pieces.next_rows = [](const Backend::NextRows& n) {
    Backend::NextRows wrong = n;
    std::vector<int32_t> lower_half(10);
    std::iota(lower_half.begin(), lower_half.end(), 0);
    wrong.suppressed = int_tensor(lower_half, {int64_t(lower_half.size())});
    counting(gpu_on_host()).next_rows(wrong);
  };
  other_parents.next_rows = [](const Backend::NextRows& n) {
    Backend::NextRows wrong = n;
    std::vector<double> falling(size_t(n.log_probs.elements()));
    for (size_t r = 0; r < falling.size(); ++r) falling[r] = -100. * double(r);
    wrong.log_probs = double_tensor(falling, n.log_probs.shape());
    counting(gpu_on_host()).next_rows(wrong);
  };
  const SearchOptions options{.beam_size = 3, .max_length_add = 12, .n_best = 3};
  const auto found = find(plain, options, some, 60);
  calls = {};
  EXPECT_EQ(find(counting(device), options, some, 60), found);
  const int64_t most_accepted = calls.steps;
  for (const Backend& wrong : {other_pieces, other_parents}) {
    calls = {};
    EXPECT_EQ(find(wrong, options, some, 60), found);
    EXPECT_GT(calls.steps, most_accepted + 10);
  }
}

// A step that may be the last one needs no memory for the one after it.
TEST_F(StepAhead, DoesWithoutTheNextStepWhereThereIsNoMemoryForIt) {
  constexpr int page_steps = 16;  // after which the cache of a sentence grows
  static Arena* memory;
  static std::vector<Tensor> taken;
  Arena small{*device.memory, int64_t{1} << 25};
  memory = &small;
  Backend scarce = counting(device);
  scarce.top_k = [](const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
    counting(gpu_on_host()).top_k(values, ids, lse, logits);
    for (int64_t bytes = calls.steps < page_steps ? 0 : int64_t{1} << 25; bytes > 0;) try {
        taken.push_back(memory->allocate({bytes}, DType::u8));
      } catch (const OutOfMemory&) {
        bytes /= 2;
      }
  };
  calls = {};
  Context cx{.backend = scarce, .arena = small, .packed = &packed};
  std::vector<Ensemble::Member> members;
  members.push_back({model->decode(cx)});
  Ensemble models(cx, std::move(members));
  models.add({{3, 4, 5}, Spans::of_lengths({3})}, 300);
  const AheadRequest ahead{.first = {0, 1}, .compared = {1}, .log_probs = {0}, .suppressed = {}, .end = eos_id};
  std::vector<StepRow> rows = {{0, -1, bos_id}};
  for (int step = 1; step <= page_steps; ++step) {
    EXPECT_EQ(models.is_ahead(), step > 1) << step;
    const Predictions found = models.step(rows, {}, &ahead);
    models.keep();
    rows = {{0, 0, found.best(0)[0]}};
  }
  EXPECT_FALSE(models.is_ahead());
  EXPECT_EQ(calls.steps, page_steps);
  taken.clear();
}

}  // namespace
}  // namespace dragoman
