#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "backend/backend.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

constexpr int32_t end_id = 2;

/// A step of some sentences and what its rows may continue with.
struct Step {
  std::vector<int32_t> first;         // of each sentence among the rows, and their number
  std::vector<int32_t> step_first;    // of each sentence among the rows of top_k
  std::vector<int32_t> compared;      // continuations of each sentence
  int64_t rows, best;                 // of top_k (Q, k)
  std::vector<int32_t> ids;           // (Q,k)
  std::vector<double> scores, lse;    // (Q,k)  (Q) or empty
  std::vector<double> log_probs;      // (R)
  std::vector<int32_t> past, length;  // (R,T) (R)
  std::vector<int32_t> suppressed = {0};
};

struct Choice {
  std::vector<int32_t> tokens, parents, ids, table;
  bool operator==(const Choice&) const = default;
};
void PrintTo(const Choice& c, std::ostream* out) {
  *out << testing::PrintToString(std::tuple(c.tokens, c.parents, c.ids, c.table));
}

std::vector<int32_t> integers_of(const Tensor& x) {
  const Tensor values = x.on_host();
  return {values.as<int32_t>(), values.as<int32_t>() + x.elements()};
}

// What is in the copy of the device, if there is one.
std::vector<int32_t> integers_where_kernels_write(const Backend& b, const Tensor& x) {
  if (!b.memory) return integers_of(x);
  std::vector<int32_t> values(size_t(x.elements()));
  b.memory->download(values.data(), x.mirror()->copy.get(), x.bytes());
  return values;
}

Choice choose(const Backend& b, const Step& s) {
  ByHand t(b, DType::f32);
  const auto R = int64_t(s.log_probs.size()), T = int64_t(s.past.size()) / R;
  const auto integers = [&](Shape shape) { return t.arena.allocate(shape, DType::i32); };
  const Tensor best = integers({s.rows, s.best}), tokens = integers({R}), parents = integers({R});
  best.assign(int_tensor(s.ids, {s.rows, s.best}));
  // The next step has room for more rows and tokens, which are left alone.
  const Tensor ids = int_tensor(std::vector<int32_t>(size_t(R + 1), -1), {R + 1});
  const Tensor table = int_tensor(std::vector<int32_t>(size_t((R + 1) * (T + 2)), -1), {R + 1, T + 2});
  b.next_rows(Backend::NextRows{.tokens = tokens,
                                .parents = parents,
                                .ids = ids,
                                .table = table,
                                .best = best,
                                .scores = t.constant({s.rows, s.best}, s.scores),
                                .lse = s.lse.empty() ? Tensor() : t.constant({s.rows}, s.lse),
                                .first = int_tensor(s.first, {int64_t(s.first.size())}),
                                .step_first = int_tensor(s.step_first, {int64_t(s.step_first.size())}),
                                .compared = int_tensor(s.compared, {int64_t(s.compared.size())}),
                                .log_probs = double_tensor(s.log_probs, {R}),
                                .past = int_tensor(s.past, {R, T}),
                                .length = int_tensor(s.length, {R}),
                                .suppressed = int_tensor(s.suppressed, {int64_t(s.suppressed.size())}),
                                .end = end_id});
  return {integers_of(tokens), integers_of(parents), integers_where_kernels_write(b, ids),
          integers_where_kernels_write(b, table)};
}

// A sentence of two hypotheses, the second of which is far better, and one whose only hypothesis ends. A row of top_k
// belongs to no hypothesis.
const Step by_hand{.first = {0, 2, 3},
                   .step_first = {0, 3},
                   .compared = {2, 1},
                   .rows = 4,
                   .best = 3,
                   .ids = {7, 8, 9, /**/ 0, 5, 6, /**/ 4, 4, 4, /**/ 2, 5, 6},
                   .scores = {3, 2, 1, /**/ 9, 8, 7.5, /**/ 0, 0, 0, /**/ 5, 4, 3},
                   .lse = {4, 10, 0, 6},
                   .log_probs = {-10, -1, -2},
                   .past = {10, 11, 12, 20, 21, 22, 30, 31, 0},
                   .length = {3, 3, 2}};

void check_by_hand(const Backend& b) {
  const Choice c = choose(b, by_hand);
  EXPECT_THAT(c.tokens, ElementsAre(5, 6, 2)) << b.name;  // 0 is suppressed
  EXPECT_THAT(c.parents, ElementsAre(1, 1, 2)) << b.name;
  EXPECT_THAT(c.ids, ElementsAre(5, 6, 2, -1)) << b.name;
  EXPECT_THAT(c.table, ElementsAre(20, 21, 12, -1, -1, 20, 21, 22, -1, -1, 30, 31, -1, -1, -1, -1, -1, -1, -1, -1))
      << b.name;
}

TEST(NextRows, AreTheBestContinuationsOfEachSentence) {
  check_by_hand(backend("reference"));
  check_by_hand(gpu_on_host());
}

// Of equal log-probabilities, which no piece can exceed by rounding, the earlier row comes first, then the lower id.
TEST(NextRows, TakeEqualOnesByRowAndId) {
  const Step equal{.first = {0, 3},
                   .step_first = {0},
                   .compared = {3},
                   .rows = 3,
                   .best = 2,
                   .ids = {9, 8, 7, 6, 5, 4},
                   .scores = {5, 5, 5, 5, 5, 5},
                   .lse = {4.5, 5, 5},
                   .log_probs = {-1, -1, -1},
                   .past = {1, 2, 3},
                   .length = {1, 1, 1}};
  for (const Backend* b : {&backend("reference"), &gpu_on_host()}) {
    const Choice c = choose(*b, equal);
    EXPECT_THAT(c.tokens, ElementsAre(8, 9, 6)) << b->name;
    EXPECT_THAT(c.parents, ElementsAre(0, 0, 1)) << b->name;
  }
}

// As the rules of other programs want it: what ends leaves room for another continuation.
TEST(NextRows, FillTheRoomOfWhatEndsIfMoreAreCompared) {
  Step more = by_hand;
  more.compared = {2, 2};
  for (const Backend* b : {&backend("reference"), &gpu_on_host()})
    EXPECT_THAT(choose(*b, more).tokens, ElementsAre(5, 6, 5)) << b->name;
}

TEST(NextRows, NeedNoLogProbabilitiesOfASingleHypothesis) {
  Step one = by_hand;
  one.first = {0, 1}, one.step_first = {1}, one.compared = {1}, one.lse = {}, one.log_probs = {0}, one.past = {1, 2},
  one.length = {2};
  for (const Backend* b : {&backend("reference"), &gpu_on_host()})
    EXPECT_THAT(choose(*b, one).tokens, ElementsAre(5)) << b->name;
}

// The host refuses a step with a NaN anyway; the kernel has only to choose rows that exist.
TEST(NextRows, DoNotContinueWithNaN) {
  Step some = by_hand;
  some.scores[4] = std::nan("");  // of 5, which would be the best
  Step none = by_hand;
  none.lse[0] = none.lse[1] = std::nan("");
  for (const Backend* b : {&backend("reference"), &gpu_on_host()}) {
    EXPECT_THAT(choose(*b, some).tokens, ElementsAre(6, 7, end_id)) << b->name;
    EXPECT_THAT(choose(*b, none).tokens, ElementsAre(end_id, end_id, end_id)) << b->name;
  }
}

/// Sentences of up to `most` rows, k pieces each; scores are multiples of a quarter, so that many are equal.
Step random_step(int sentences, int32_t most, int64_t k, uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return int32_t(random() % n); };
  Step s{.first = {0}, .step_first = {}, .compared = {}, .rows = 0, .best = k, .suppressed = {0, 1, 3}};
  constexpr int32_t T = 40;
  for (int i = 0; i < sentences; ++i) {
    const int32_t rows = 1 + below(uint32_t(most)), length = 1 + below(T);
    s.step_first.push_back(int32_t(s.rows));
    s.compared.push_back(rows * (1 + below(2)));
    s.rows += rows + below(2);
    s.first.push_back(s.first.back() + rows);
    for (int32_t r = 0; r < rows; ++r) {
      s.log_probs.push_back(-below(8) / 4.);
      s.length.push_back(length);
      for (int32_t t = 0; t < T; ++t) s.past.push_back(below(1000));
    }
  }
  std::vector<int32_t> pieces(60);
  std::iota(pieces.begin(), pieces.end(), 0);
  for (int64_t q = 0; q < s.rows; ++q) {
    s.lse.push_back(4);
    std::shuffle(pieces.begin(), pieces.end(), random);
    s.ids.insert(s.ids.end(), pieces.begin(), pieces.begin() + k);
    for (int64_t i = 0; i < k; ++i) s.scores.push_back(below(17) / 4.);
  }
  return s;
}

void check_random(const Backend& gpu) {
  for (const int32_t most : {1, 4, 12, 40})
    for (const int64_t k : {1, 4, 9, 43}) {
      const Step s = random_step(13, most, k, uint32_t(most + k));
      EXPECT_EQ(choose(gpu, s), choose(backend("reference"), s)) << most << " rows, " << k << " pieces";
    }
}

TEST(NextRows, KernelsForGpusAgreeWithTheReference) { check_random(gpu_on_host()); }

TEST(NextRows, GpusAgreeWithTheReference) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  check_by_hand(gpu());
  check_random(gpu());
}

}  // namespace
}  // namespace dragoman
