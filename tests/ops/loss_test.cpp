#include "ops/loss.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/recurrent.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<int32_t> targets_below(int64_t V, int64_t N) {
  std::vector<int32_t> targets(N);
  for (int64_t n = 0; n < N; ++n) targets[n] = int32_t(n * 5 % V);
  return targets;
}

struct LossSize {
  int64_t N, D, V;
};

OpCase loss_case(LossSize s, double smoothing) {
  OpCase c{fmt::format("{} rows {} to {} smoothing {}", s.N, s.D, s.V, smoothing),
           {{"x", {s.N, s.D}}, {"w", {s.V, s.D}}}};
  c.op = [=, targets = int_tensor(targets_below(s.V, s.N), {s.N})](Context& cx, const OpInputs& in) {
    return Var(linear_cross_entropy(cx, in.at("x"), in.at("w"), targets, smoothing).loss);
  };
  if (s.N > 500) c.differences = 3;
  return c;
}

// With weights 0, 0.5, 1, 1.5, 0 …: a row of weight 0 has neither loss nor gradient.
OpCase weighted_case(LossSize s) {
  OpCase c = loss_case(s, 0.1);
  c.name = "weighted, " + c.name;
  std::vector<float> weights(s.N);
  for (int64_t n = 0; n < s.N; ++n) weights[n] = float(n % 4) / 2;
  c.op = [targets = int_tensor(targets_below(s.V, s.N), {s.N}), weights = float_tensor(weights, {s.N})](
             Context& cx, const OpInputs& in) {
    return Var(linear_cross_entropy(cx, in.at("x"), in.at("w"), targets, 0.1, weights).loss);
  };
  return c;
}

OpCase biased_case(LossSize s, double smoothing) {
  OpCase c = loss_case(s, smoothing);
  c.name = "biased, " + c.name;
  c.inputs.push_back({"b", {s.V}});
  c.op = [=, targets = int_tensor(targets_below(s.V, s.N), {s.N})](Context& cx, const OpInputs& in) {
    const OutputWeights output{in.at("w"), in.at("b")};
    return Var(linear_cross_entropy(cx, in.at("x"), output, {.ids = targets, .smoothing = smoothing}).loss);
  };
  return c;
}

// The second result, which takes no gradient.
OpCase log_prob_case(LossSize s) {
  OpCase c = loss_case(s, 0.1);
  c.name = "log prob, " + c.name;
  c.differences = 0;
  c.op = [targets = int_tensor(targets_below(s.V, s.N), {s.N})](Context& cx, const OpInputs& in) {
    return Var(linear_cross_entropy(cx, in.at("x"), in.at("w"), targets, 0.1).log_prob);
  };
  return c;
}

// Targets that may be copied, with probability σ(c) among the copied tokens.
OpCase copying_case(LossSize s, double smoothing, bool weighted) {
  OpCase c = loss_case(s, smoothing);
  c.name = (weighted ? "copying, weighted, " : "copying, ") + c.name;
  c.inputs.push_back({"gate", {s.N, 1}});
  c.inputs.push_back({"c", {s.N, 1}});
  Targets targets{.ids = int_tensor(targets_below(s.V, s.N), {s.N}), .smoothing = smoothing};
  if (weighted) {
    std::vector<float> weights(s.N);
    for (int64_t n = 0; n < s.N; ++n) weights[n] = float(n % 4) / 2;
    targets.weights = float_tensor(weights, {s.N});
  }
  c.op = [=](Context& cx, const OpInputs& in) {
    const Var ones(cx.save({s.N, 1}, in.at("c").dtype()));
    cx.backend.fill(ones, 1);
    Targets copied = targets;
    copied.copying = {in.at("gate"), gate(cx, ones, in.at("c"))};
    return Var(linear_cross_entropy(cx, in.at("x"), {in.at("w")}, copied).loss);
  };
  return c;
}

INSTANTIATE_TEST_SUITE_P(Copying, OpCheck,
                         testing::Values(copying_case({0, 3, 5}, 0.1, false), copying_case({1, 1, 1}, 0, false),
                                         copying_case({3, 17, 33}, 0, false), copying_case({17, 33, 35}, 0.1, true),
                                         copying_case({33, 5, 500}, 0.2, false),
                                         copying_case({1100, 3, 17}, 0.1, true)),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(LinearCrossEntropy, OpCheck,
                         testing::Values(loss_case({0, 3, 5}, 0.1), loss_case({1, 1, 1}, 0), loss_case({3, 17, 33}, 0),
                                         loss_case({3, 17, 33}, 0.1), loss_case({17, 33, 3}, 0.1),
                                         loss_case({33, 5, 500}, 0.2),
                                         loss_case({1100, 3, 17}, 0.1),  // three chunks of rows on the cpu
                                         weighted_case({0, 3, 5}), weighted_case({1, 3, 17}),
                                         weighted_case({17, 33, 35}), weighted_case({1100, 3, 17}),
                                         log_prob_case({17, 5, 35}), biased_case({0, 3, 5}, 0.1),
                                         biased_case({1, 1, 1}, 0), biased_case({17, 33, 35}, 0.1),
                                         biased_case({33, 5, 500}, 0), biased_case({1100, 3, 17}, 0.1)),
                         name_of_case);

// Logits (0, ln 3): p = (1/4, 3/4). With ε = 0.2 and two pieces the target distribution is (0.1, 0.9), so dz = (0.15,
// -0.15).
TEST(LinearCrossEntropy, HasTheLossOfItsFormulaAndTheGradientOfTheSum) {
  ByHand t;
  const double log3 = std::log(3.0);
  const Var x = t.var({1, 1}, {1}), w = t.var({2, 1}, {0, log3});
  const Tensor label = int_tensor({1}, {1});
  const TokenLoss plain = linear_cross_entropy(t.cx, t.constant({1, 1}, {1}), Var(w.value()), label, 0);
  EXPECT_NEAR(values_of(plain.loss)[0], -std::log(0.75), 1e-15);
  const TokenLoss smoothed = linear_cross_entropy(t.cx, x, w, label, 0.2);
  EXPECT_NEAR(values_of(smoothed.log_prob)[0], std::log(0.75), 1e-15);
  EXPECT_NEAR(values_of(smoothed.loss)[0], -0.9 * std::log(0.75) - 0.1 * std::log(0.25), 1e-15);
  EXPECT_NEAR(values_of(x.node()->gradient)[0], -0.15 * log3, 1e-15);
  EXPECT_NEAR(values_of(w.node()->gradient)[0], 0.15, 1e-15);
  EXPECT_NEAR(values_of(w.node()->gradient)[1], -0.15, 1e-15);
}

// Softmax (1/4, 3/4), copy probability 1/2, and the gate at 1/2: p = (3/4 + 1/2) / 2 = 5/8, of which the softmax
// contributes 3/5. d -log p / d gate = 1/2 - 3/5,  d -log p / d copied = -(1/2) / (5/8),  dz = 3/5 · (1/4, -1/4).
TEST(LinearCrossEntropy, MixesGeneratedAndCopiedProbabilityOfATarget) {
  ByHand t;
  const double log3 = std::log(3.0);
  const Var x = t.var({1, 1}, {1}), w = t.var({2, 1}, {0, log3}), gate = t.var({1, 1}, {0}),
            copied = t.var({1, 1}, {0.5});
  const TokenLoss loss = linear_cross_entropy(t.cx, x, {w}, {.ids = int_tensor({1}, {1}), .copying = {gate, copied}});
  EXPECT_NEAR(values_of(loss.log_prob)[0], std::log(0.625), 1e-15);
  EXPECT_NEAR(values_of(loss.loss)[0], -std::log(0.625), 1e-15);
  EXPECT_NEAR(values_of(gate.node()->gradient)[0], -0.1, 1e-15);
  EXPECT_NEAR(values_of(copied.node()->gradient)[0], -0.8, 1e-15);
  EXPECT_NEAR(values_of(w.node()->gradient)[0], 0.15, 1e-15);
  EXPECT_NEAR(values_of(w.node()->gradient)[1], -0.15, 1e-15);
}

// Smoothing applies to the softmax: with ε = 0.2 it adds 0.1 · (-log 1/4 - log 3/4), and dz = 0.8 · 3/5 · (1/4, -1/4) +
// 0.2 · (1/4 - 1/2, 3/4 - 1/2).
TEST(LinearCrossEntropy, SmoothsWhatIsGeneratedAndNotWhatIsCopied) {
  ByHand t;
  const Var x = t.var({1, 1}, {1}), w = t.var({2, 1}, {0, std::log(3.0)}), gate = t.var({1, 1}, {0}),
            copied = t.var({1, 1}, {0.5});
  const TokenLoss loss =
      linear_cross_entropy(t.cx, x, {w}, {.ids = int_tensor({1}, {1}), .smoothing = 0.2, .copying = {gate, copied}});
  EXPECT_NEAR(values_of(loss.log_prob)[0], std::log(0.625), 1e-15);
  EXPECT_NEAR(values_of(loss.loss)[0], -0.8 * std::log(0.625) - 0.1 * (std::log(0.25) + std::log(0.75)), 1e-15);
  EXPECT_NEAR(values_of(gate.node()->gradient)[0], -0.08, 1e-15);
  EXPECT_NEAR(values_of(copied.node()->gradient)[0], -0.64, 1e-15);
  EXPECT_NEAR(values_of(w.node()->gradient)[0], 0.12 - 0.05, 1e-15);
  EXPECT_NEAR(values_of(w.node()->gradient)[1], -0.12 + 0.05, 1e-15);
}

// With nothing to copy and an open gate only the softmax remains; a closed gate leaves only copies. Neither a copy
// probability of 0 nor a target of vanishing probability may give NaN.
TEST(LinearCrossEntropy, HandlesTargetsThatCannotBeCopiedOrGenerated) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var x = t.var({4, 1}, {1, 1, 1, 1000}), w = t.var({2, 1}, {0, 1}), gate = t.var({4, 1}, {1000, -1000, 0, 0}),
              copied = t.var({4, 1}, {0, 0.5, 0, 0});
    const TokenLoss loss =
        linear_cross_entropy(t.cx, x, {w}, {.ids = int_tensor({1, 1, 1, 0}, {4}), .copying = {gate, copied}});
    const double log_softmax = -std::log1p(std::exp(-1.0));
    expect_close(values_of(loss.log_prob), {log_softmax, std::log(0.5), log_softmax + std::log(0.5), -1000}, 1e-3,
                 name);
    for (const Var& v : {x, w, gate, copied})
      for (const double g : values_of(v.node()->gradient)) EXPECT_TRUE(std::isfinite(g)) << name;
    expect_close(values_of(gate.node()->gradient), {0, 0, -0.5, -0.5}, 1e-6, name);
    // That of the last one would be -exp(1000), by which weights of 0 are multiplied.
    expect_close(values_of(copied.node()->gradient), {0, -2, 0, 0}, 1e-6, name);
  }
}

// A target of weight 2 counts as two, one of weight 0 as absent.
TEST(LinearCrossEntropy, AWeightOfNEqualsNOccurrencesOfATarget) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand weighted(name, DType::f32), repeated(name, DType::f32);
    const std::vector<double> a = {1, -2}, b = {0.5, 3}, c = {2, 2}, w_values = {1, 0, 0, 1, -1, 1};
    const auto rows = [](std::initializer_list<std::vector<double>> all) {
      std::vector<double> values;
      for (const auto& row : all) values.insert(values.end(), row.begin(), row.end());
      return values;
    };
    const Var x = weighted.var({3, 2}, rows({a, b, c})), w = weighted.var({3, 2}, w_values);
    const TokenLoss one =
        linear_cross_entropy(weighted.cx, x, w, int_tensor({0, 1, 2}, {3}), 0.1, float_tensor({2, 1, 0}, {3}));
    const Var xs = repeated.var({3, 2}, rows({a, a, b})), ws = repeated.var({3, 2}, w_values);
    const TokenLoss two = linear_cross_entropy(repeated.cx, xs, ws, int_tensor({0, 0, 1}, {3}), 0.1);
    const auto loss = values_of(one.loss), losses = values_of(two.loss);
    expect_close({loss[0], loss[1], loss[2]}, {losses[0] + losses[1], losses[2], 0}, 1e-6, name);
    const auto dx = values_of(x.node()->gradient), dxs = values_of(xs.node()->gradient);
    expect_close(dx, {2 * dxs[0], 2 * dxs[1], dxs[4], dxs[5], 0, 0}, 1e-6, name);
    expect_close(values_of(w.node()->gradient), values_of(ws.node()->gradient), 1e-6, name);
    EXPECT_EQ(values_of(one.log_prob)[0], values_of(two.log_prob)[0]);
  }
}

// exp(1000) overflows f32: only a logarithm taken after subtracting the largest logit survives.
TEST(LinearCrossEntropy, SurvivesHugeLogits) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var x = t.var({1, 1}, {1000}), w = t.var({3, 1}, {1, -1, 0});
    const TokenLoss loss = linear_cross_entropy(t.cx, x, w, int_tensor({1}, {1}), 0);
    EXPECT_EQ(values_of(loss.log_prob)[0], -2000);
    EXPECT_EQ(values_of(w.node()->gradient), (std::vector<double>{1000, -1000, 0}));
  });
}

// Weight tying (Press & Wolf 2017): the shared matrix accumulates both gradients.
TEST(LinearCrossEntropy, AddsToTheGradientOfAnEmbeddingThatSharesItsWeight) {
  for (const char* name : {"reference", "cpu"}) {
    const Tensor ids = int_tensor({1, 4, 1}, {3}), targets = int_tensor({4, 0, 2}, {3});
    const auto gradients = [&](ByHand& t, const Var& table, const Var& w) {
      const Var x = embedding(t.cx, {ids, positions_of(Spans({0, 3})), table}, {});
      linear_cross_entropy(t.cx, x, w, targets, 0.1);
      t.tape.backward(t.cx.backend, t.arena);
      return std::pair{values_of(table.node()->gradient), values_of(w.node()->gradient)};
    };
    ByHand tied(name, DType::f32), apart(name, DType::f32);
    const Var shared = tied.random({5, 7});
    const auto sum = gradients(tied, shared, shared).first;
    auto [table, w] = gradients(apart, apart.random({5, 7}), apart.random({5, 7}));
    for (size_t i = 0; i < w.size(); ++i) w[i] += table[i];
    expect_close(sum, w, 1e-6, name);
  }
}

// A line's score must not depend on the rest of its batch.
TEST(LinearCrossEntropy, GivesARowTheSameBitsWhateverItsNeighboursWithPackedWeights) {
  const Threads one(1);
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var x = t.random({23, 9}), w = t.random({37, 9}, 1);
    const Tensor packed = t.empty({t.cx.backend.packed_elements(37, 9, DType::f32)});
    t.cx.backend.pack(packed, w);
    const PackedWeights weights{{w.value().data(), packed}};
    Context scoring{.backend = t.cx.backend, .arena = t.arena, .packed = &weights};
    const Tensor targets = int_tensor(targets_below(37, 23), {23});
    const auto all = values_of(linear_cross_entropy(scoring, x, w, targets, 0).log_prob);
    for (int64_t n = 0; n < 23; ++n) {
      const Var row(x.value().row_range(n, 1));
      EXPECT_EQ(values_of(linear_cross_entropy(scoring, row, w, targets.row_range(n, 1), 0).log_prob)[0], all[n]);
    }
  });
}

TEST(LinearCrossEntropy, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var x = t.random({3, 4});
  const Tensor targets = int_tensor({0, 0, 0}, {3});
  EXPECT_THAT(error_of([&] {
                linear_cross_entropy(t.cx, x, t.random({5, 2}), targets, 0);
              }),
              AllOf(HasSubstr("(3,4)"), HasSubstr("(5,2)")));
  EXPECT_THAT(error_of([&] {
                linear_cross_entropy(t.cx, x, t.random({5, 4}), int_tensor({0}, {1}), 0);
              }),
              AllOf(HasSubstr("(1)"), HasSubstr("(3)")));
  EXPECT_THAT(error_of([&] {
                linear_cross_entropy(t.cx, x, t.random({5, 4}), targets, 0, float_tensor({1, 1}, {2}));
              }),
              AllOf(HasSubstr("weights is (2)"), HasSubstr("expected (3)")));
  EXPECT_THAT(error_of([&] {
                linear_cross_entropy(t.cx, x, {t.random({5, 4})},
                                     {.ids = targets, .copying = {t.random({3, 1}), t.random({2, 1})}});
              }),
              AllOf(HasSubstr("copied (2,1)"), HasSubstr("expected (3,1) or neither")));
  EXPECT_THAT(error_of([&] {
                linear_cross_entropy(t.cx, x, {t.random({5, 4}), t.random({4})}, {.ids = targets});
              }),
              AllOf(HasSubstr("bias is (4)"), HasSubstr("expected (5)")));
}

}  // namespace
}  // namespace dragoman
