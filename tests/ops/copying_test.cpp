#include "ops/copying.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct CopySize {
  int64_t R, V, K;
  std::vector<int32_t> lengths;  // of the sources: row r copies from source r mod the number of sources
};

// Pieces repeat within a source.
CopyKeys keys_of(const CopySize& s, const Tensor& k) {
  const Spans spans = Spans::of_lengths(s.lengths);
  std::vector<int32_t> begin, length, pieces(s.R * spans.longest());
  for (int64_t r = 0; r < s.R; ++r) {
    const Range span = spans[int(r % int64_t(s.lengths.size()))];
    begin.push_back(int32_t(span.begin));
    length.push_back(int32_t(span.end - span.begin));
    for (int64_t t = 0; t < length.back(); ++t)
      pieces[r * spans.longest() + t] = int32_t((span.begin + t * 7) % 5 % s.V);
  }
  return {k,
          {.length = int_tensor(length, {s.R}), .begin = int_tensor(begin, {s.R})},
          int_tensor(pieces, {s.R, spans.longest()})};
}

OpCase copying_case(const CopySize& s) {
  OpCase c{fmt::format("{} rows of {} from {} sources, {} columns", s.R, s.V, s.lengths.size(), s.K),
           {{"logits", {s.R, s.V}},
            {"q", {s.R, s.K}},
            {"k", {Spans::of_lengths(s.lengths).rows(), s.K}},
            {"gate", {s.R, 1}}}};
  c.differences = 0;
  c.op = [=](Context& cx, const OpInputs& in) {
    const Tensor y = cx.save({s.R, s.V}, in.at("logits").dtype());
    cx.backend.copy(y, in.at("logits"));
    mix_copies(cx, y, in.at("q"), in.at("gate"), keys_of(s, in.at("k")));
    return Var(y);
  };
  return c;
}

INSTANTIATE_TEST_SUITE_P(MixCopies, OpCheck,
                         testing::Values(copying_case({0, 3, 2, {1}}), copying_case({1, 1, 1, {1}}),
                                         copying_case({3, 17, 5, {3, 1, 9}}), copying_case({17, 33, 33, {40, 2}}),
                                         copying_case({5, 500, 16, {1, 2, 17}})),
                         name_of_case);

// Softmax (1/4, 1/2, 1/4); weights (1/4, 3/4) of the two keys; the gate is 1/2. If both keys are of piece 2, p = (1/8,
// 1/4, 1/8 + 1/2); if they are of pieces 0 and 2, p = (1/8 + 1/8, 1/4, 1/8 + 3/8).
TEST(MixCopies, GivesTheProbabilitiesOfItsFormula) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const double log2 = std::log(2.0), log3 = std::log(3.0);
    const Var logits = t.constant({2, 3}, {0, log2, 0, 5, 5 + log2, 5}), q = t.constant({2, 1}, {1, 1}),
              k = t.constant({3, 1}, {9, 0, log3}), gate = t.constant({2, 1}, {0, 0});
    const StepKeys keys{.length = int_tensor({2, 2}, {2}), .begin = int_tensor({1, 1}, {2})};
    mix_copies(t.cx, logits, q, gate, {k, keys, int_tensor({2, 2, 0, 2}, {2, 2})});
    std::vector<double> p = values_of(logits);
    for (double& x : p) x = std::exp(x);
    expect_close(p, {0.125, 0.25, 0.625, 0.25, 0.25, 0.5}, 1e-6, name);
  }
}

// Probabilities too small to represent still have a logarithm.
TEST(MixCopies, KeepsLogarithmsOfTinyProbabilities) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var logits = t.constant({1, 3}, {0, -500, 0}), q = t.constant({1, 1}, {1}), k = t.constant({2, 1}, {0, -300}),
              gate = t.constant({1, 1}, {-50});
    const StepKeys keys{.length = int_tensor({2}, {1}), .begin = int_tensor({0}, {1})};
    mix_copies(t.cx, logits, q, gate, {k, keys, int_tensor({0, 2}, {1, 2})});
    const std::vector<double> y = values_of(logits);
    expect_close(y, {0, -550 - std::log(2.0), -50 - std::log(2.0)}, 1e-6, name);
  }
}

// A translation must not depend on the rest of its batch.
TEST(MixCopies, GivesARowTheSameBitsWhateverItsNeighbours) {
  const CopySize s{9, 37, 13, {5, 2, 30}};
  for_each_target([&] {
    ByHand t("cpu", DType::f32);
    const std::vector<double> z = normals(s.R * s.V, 1);
    const Var q = t.random({s.R, s.K}, 2), k = t.random({37, s.K}, 3), gate = t.random({s.R, 1}, 4);
    const CopyKeys copies = keys_of(s, k);
    const Tensor all = t.constant({s.R, s.V}, z);
    mix_copies(t.cx, all, q, gate, copies);
    for (int64_t r = 0; r < s.R; ++r) {
      const Tensor one = t.constant({1, s.V}, {z.begin() + r * s.V, z.begin() + (r + 1) * s.V});
      const int64_t longest = copies.keys.length.as<int32_t>()[r];
      const StepKeys keys{.length = copies.keys.length.row_range(r, 1), .begin = copies.keys.begin.row_range(r, 1)};
      const int32_t* pieces = copies.pieces.view<int32_t>().row(r);
      mix_copies(t.cx, one, q.value().row_range(r, 1), gate.value().row_range(r, 1),
                 {k, keys, int_tensor({pieces, pieces + longest}, {1, longest})});
      EXPECT_EQ(values_of(one), values_of(all.row_range(r, 1)));
    }
  });
}

TEST(MixCopies, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const CopySize s{2, 3, 4, {1, 2}};
  const Var logits = t.random({2, 3}), q = t.random({2, 4}), k = t.random({3, 4}), gate = t.random({2, 1});
  EXPECT_THAT(error_of([&] {
                mix_copies(t.cx, logits, q, gate, keys_of(s, t.random({3, 5})));
              }),
              AllOf(HasSubstr("(2,4)"), HasSubstr("(3,5)")));
  EXPECT_THAT(error_of([&] {
                mix_copies(t.cx, logits, q, t.random({1, 1}), keys_of(s, k));
              }),
              AllOf(HasSubstr("gate is (1,1)"), HasSubstr("(2,1)")));
  EXPECT_THAT(error_of([&] {
                mix_copies(t.cx, logits, q, gate, keys_of({3, 3, 4, {1, 2}}, k));
              }),
              AllOf(HasSubstr("pieces are (3,2)"), HasSubstr("R = 2")));
}

}  // namespace
}  // namespace dragoman
