#include "ops/hard_attention.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/linear.h"
#include "ops/rows.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<double>;

Spans of_each(int64_t sentences, int32_t length) {
  return Spans::of_lengths(std::vector<int32_t>(size_t(sentences), length));
}

// The likeliest keys without a learning signal: only v has a gradient.
OpCase likeliest_case(const std::vector<int32_t>& lengths, int64_t key, int64_t value) {
  const Spans keys = Spans::of_lengths(lengths);
  const int64_t B = keys.sentences();
  return {
      fmt::format("{} sentences, {} x {} and {}", B, keys.rows(), key, value),
      {{"q", {B, key}}, {"k", {keys.rows(), key}}, {"v", {keys.rows(), value}}},
      [=](Context& cx, const OpInputs& in) {
        const Tensor signal = cx.save({B, 2}, in.at("q").dtype());
        cx.backend.fill(signal, 0);
        return hard_attention(cx, in.at("q"), in.at("k"), in.at("v"), {Spans::one_row_each(B), keys}, {}, {{}, signal});
      }};
}
// One value as key and value: it receives both gradients.
OpCase case_of_keys_that_are_values() {
  return {"keys that are values", {{"q", {2, 3}}, {"k", {5, 3}}}, [](Context& cx, const OpInputs& in) {
            const Tensor signal = cx.save({2, 2}, in.at("q").dtype());
            cx.backend.fill(signal, 0);
            return hard_attention(cx, in.at("q"), in.at("k"), in.at("k"), {Spans::one_row_each(2), Spans({0, 2, 5})},
                                  {}, {{}, signal});
          }};
}
INSTANTIATE_TEST_SUITE_P(HardAttention, OpCheck,
                         testing::Values(likeliest_case({}, 3, 5), likeliest_case({1}, 1, 1),
                                         likeliest_case({3, 17, 1}, 33, 17), likeliest_case({500, 2}, 3, 2),
                                         case_of_keys_that_are_values()),
                         name_of_case);

// Queries and keys are zero: all weights are equal, so the first key is taken.
TEST(HardAttention, ChoosesTheLikeliestKeyAndTheFirstOnTies) {
  ByHand t;
  const Tensor signal = t.constant({2, 2}, {0, 0, 0, 0});
  const Var q = t.constant({2, 1}, {1, 0}), k = t.constant({5, 1}, {3, 7, 5, 1, 2});
  const Var v = t.var({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Var y = hard_attention(t.cx, q, k, v, {Spans::one_row_each(2), Spans({0, 3, 5})}, {}, {{}, signal});
  EXPECT_THAT(values_of(y), ElementsAre(3, 4, 7, 8));
  t.backward(y, {10, 20, 30, 40});
  EXPECT_THAT(values_of(v.node()->gradient), ElementsAre(0, 0, 10, 20, 0, 0, 30, 40, 0, 0));
}

Dropout draws(int64_t rows, uint32_t update = 0) {
  return {.rate = 1, .seed = 5, .update = update, .op = 2, .positions = positions_of(of_each(rows, 1))};
}

TEST(HardAttention, DrawsKeysAsOftenAsTheirWeightsSay) {
  constexpr int64_t B = 20000;
  ByHand t;
  const Numbers p = {0.2, 0.5, 0.3};
  Numbers scores, values;
  for (int64_t s = 0; s < B; ++s)
    for (int j = 0; j < 3; ++j) scores.push_back(std::log(p[j])), values.push_back(j);
  const Tensor signal = t.empty({B, 2});
  const Var y =
      hard_attention(t.cx, t.constant({B, 1}, Numbers(B, 1)), t.constant({3 * B, 1}, scores),
                     t.constant({3 * B, 1}, values), {Spans::one_row_each(B), of_each(B, 3)}, {}, {draws(B), signal});
  Numbers found(3);
  for (const double j : values_of(y)) found[size_t(j)] += 1. / B;
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(found[j], p[j], 4 * std::sqrt(p[j] * (1 - p[j]) / B)) << j;
}

TEST(HardAttention, DrawsBySentenceAndTokenAndNotByRow) {
  ByHand t;
  const auto chosen = [&](const std::vector<int32_t>& sentences, uint32_t update) {
    const auto B = int64_t(sentences.size());
    std::vector<int32_t> positions;
    Numbers values;
    for (const int32_t s : sentences) {
      positions.insert(positions.end(), {s, 7});
      for (int j = 0; j < 40; ++j) values.push_back(j);
    }
    const Var k = t.constant({40 * B, 1}, Numbers(40 * B, 0));
    const Dropout random{.rate = 1, .seed = 5, .update = update, .op = 2, .positions = int_tensor(positions, {B, 2})};
    return values_of(hard_attention(t.cx, t.constant({B, 1}, Numbers(B, 0)), k, t.constant({40 * B, 1}, values),
                                    {Spans::one_row_each(B), of_each(B, 40)}, {}, {random, t.empty({B, 2})}));
  };
  const Numbers together = chosen({3, 9, 4}, 1);
  EXPECT_THAT(chosen({4, 3}, 1), ElementsAre(together[2], together[0]));
  EXPECT_NE(chosen({3, 9, 4}, 2), together);
}

// A · log p(s) + E · H(p) of two sentences, by central differences in q and k.
TEST(HardAttention, LearnsByTheLogarithmOfTheChosenWeightAndByTheEntropy) {
  const Spans keys({0, 4, 7});
  const AttentionShape shape{Spans::one_row_each(2), keys};
  const Numbers q = normals(6, 0), k = normals(21, 1), learns = {1.5, -0.2, -0.7, 0.4};
  std::vector<int64_t> chosen;
  const auto run = [&](ByHand& t) {
    const Var qs = t.var({2, 3}, q), ks = t.var({7, 3}, k);
    const Var y = hard_attention(t.cx, qs, ks, t.constant({7, 1}, {0, 1, 2, 3, 4, 5, 6}), shape, {},
                                 {draws(2, 3), t.constant({2, 2}, learns).value()});
    chosen.assign({int64_t(values_of(y)[0]), int64_t(values_of(y)[1])});
    t.backward(y, {0, 0});
    return std::pair(values_of(qs.node()->gradient), values_of(ks.node()->gradient));
  };
  const auto cost = [&](const Numbers& q, const Numbers& k) {
    double sum = 0;
    for (int s = 0; s < 2; ++s) {
      Numbers scores;
      double all = 0, entropy = 0;
      for (int64_t j = keys[s].begin; j < keys[s].end; ++j) {
        scores.push_back(0);
        for (int d = 0; d < 3; ++d) scores.back() += q[3 * s + d] * k[3 * j + d] / std::sqrt(3);
        all += std::exp(scores.back());
      }
      for (const double score : scores) entropy -= std::exp(score) / all * (score - std::log(all));
      sum += learns[2 * s] * (scores[chosen[s] - keys[s].begin] - std::log(all)) + learns[2 * s + 1] * entropy;
    }
    return sum;
  };
  const auto differences = [&](const Numbers& at, const auto& cost_at) {
    Numbers slopes, x = at;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = at[i] + 1e-5;
      const double above = cost_at(x);
      x[i] = at[i] - 1e-5;
      slopes.push_back((above - cost_at(x)) / 2e-5);
      x[i] = at[i];
    }
    return slopes;
  };
  const auto check = [&](const char* backend, DType dtype, double tolerance) {
    ByHand t(backend, dtype);
    const auto [dq, dk] = run(t);
    expect_close(dq, differences(q, [&](const Numbers& x) { return cost(x, k); }), tolerance, "dq");
    expect_close(dk, differences(k, [&](const Numbers& x) { return cost(q, x); }), tolerance, "dk");
  };
  check("reference", DType::f64, 1e-7);
  for_each_target([&] { check("cpu", DType::f32, 1e-5); });
}

// Sentences of 2 target tokens and 1: the loss from each token on minus the baseline, and the weight of each.
TEST(ReinforceSignal, IsOfATokenAndAllAfterItBeyondTheBaseline) {
  ByHand t;
  const Tensor signal = t.empty({3, 2}), weights = float_tensor({1, 1, 2}, {3});
  t.cx.backend.reinforce_signal(Backend::ReinforceSignal{signal, t.constant({3}, {5, 3, 8}), weights,
                                                         int_tensor({0, 2, 1}, {3}), Spans({0, 2, 3}), 2.5, 0.5, 0.25});
  EXPECT_THAT(values_of(signal), ElementsAre(0.5 * (2.5 + 0.5), -0.25, 0.5 * (8 - 5), -0.5, 0.5 * 0.5, -0.25));
}

// Two steps, where the value found by the first is the query of the second: q_1 = W h_0, and the loss is u · h_0 + w ·
// h_1. Compares its expectation over all nine paths, and the gradient by differences, with the mean gradient of many
// sampled sentences.
struct TwoSteps {
  static constexpr int64_t B = 20'000;
  Numbers q = {0.3, -0.8}, k = {1, -0.4, 0.2, 0.9, -1.1, 0.5}, v = {0.8, -0.3, -1.2, 0.6, 0.4, 1},
          W = {0.9, -0.5, 0.7, 1.2};
  Numbers u = {1, -0.6}, w = {-0.8, 1.4};

  static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1]; }
  Numbers weights(const double* query) const {
    Numbers p;
    double all = 0;
    for (int j = 0; j < 3; ++j) all += p.emplace_back(std::exp(dot(query, &k[2 * j])));
    for (double& x : p) x /= all;
    return p;
  }
  double expected_loss() const {
    double sum = 0;
    const Numbers first = weights(q.data());
    for (int i = 0; i < 3; ++i) {
      const double query[] = {dot(&W[0], &v[2 * i]), dot(&W[2], &v[2 * i])};
      const Numbers second = weights(query);
      for (int j = 0; j < 3; ++j) sum += first[i] * second[j] * (dot(u.data(), &v[2 * i]) + dot(w.data(), &v[2 * j]));
    }
    return sum;
  }
  Numbers gradient(Numbers TwoSteps::*part) const {
    TwoSteps at = *this;
    Numbers slopes;
    for (size_t i = 0; i < (this->*part).size(); ++i) {
      (at.*part)[i] += 1e-5;
      const double above = at.expected_loss();
      (at.*part)[i] -= 2e-5;
      slopes.push_back((above - at.expected_loss()) / 2e-5);
      at = *this;
    }
    return slopes;
  }
};

Numbers copies(const Numbers& one, int64_t count) {
  Numbers all;
  for (int64_t i = 0; i < count; ++i) all.insert(all.end(), one.begin(), one.end());
  return all;
}

// The mean over the copies of one value.
Numbers mean(const Var& x, size_t size) {
  Numbers sums(size);
  const Numbers all = values_of(x.node()->gradient);
  for (size_t i = 0; i < all.size(); ++i) sums[i % size] += all[i] / double(TwoSteps::B);
  return sums;
}

TEST(HardAttention, FollowsTheGradientOfTheExpectedLossInTheMean) {
  constexpr int64_t B = TwoSteps::B;
  const TwoSteps toy;
  ByHand t;
  const Var q = t.var({B, 2}, copies(toy.q, B)), k = t.var({3 * B, 2}, copies(toy.k, B)),
            v = t.var({3 * B, 2}, copies(toy.v, B)), W = t.var({2, 2}, toy.W);
  const Tensor signal = t.empty({2 * B, 2});
  const AttentionShape shape{.queries = Spans::one_row_each(B), .keys = of_each(B, 3), .score = Score::dot};
  const Var first = hard_attention(t.cx, q, k, v, shape, {}, {draws(B, 1), signal.row_range(0, B)});
  const Var second =
      hard_attention(t.cx, linear(t.cx, first, W, Var()), k, v, shape, {}, {draws(B, 2), signal.row_range(B, B)});
  const Numbers h0 = values_of(first), h1 = values_of(second);
  Numbers losses;
  std::vector<int32_t> positions;
  for (int64_t s = 0; s < B; ++s) {
    losses.push_back(TwoSteps::dot(toy.u.data(), &h0[2 * s]));
    losses.push_back(TwoSteps::dot(toy.w.data(), &h1[2 * s]));
    positions.insert(positions.end(), {int32_t(s), int32_t(B + s)});
  }
  t.cx.backend.reinforce_signal(Backend::ReinforceSignal{signal, t.constant({2 * B}, losses), Tensor(),
                                                         int_tensor(positions, {2 * B}), of_each(B, 2), 0.2, 1, 0});
  Numbers both = toy.u;
  both.insert(both.end(), toy.w.begin(), toy.w.end());
  t.backward(join_columns(t.cx, first, second), copies(both, B));
  expect_close(mean(q, 2), toy.gradient(&TwoSteps::q), 0.03, "dq", 1);
  expect_close(mean(k, 6), toy.gradient(&TwoSteps::k), 0.03, "dk", 1);
  expect_close(mean(v, 6), toy.gradient(&TwoSteps::v), 0.03, "dv", 1);
  expect_close(mean(W, 4), toy.gradient(&TwoSteps::W), 0.03, "dW", 1);
}

TEST(HardAttention, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const auto message = [&](const AttentionShape& shape, const Tensor& signal) {
    return error_of([&] {
      hard_attention(t.cx, t.random({2, 3}), t.random({5, 3}), t.random({5, 1}), shape, {}, {{}, signal});
    });
  };
  const AttentionShape right{Spans::one_row_each(2), Spans({0, 2, 5})};
  EXPECT_THAT(message(right, t.empty({2, 1})), testing::AllOf(HasSubstr("(2,1)"), HasSubstr("(2,2)")));
  EXPECT_THAT(message({Spans({0, 2}), Spans({0, 5})}, t.empty({2, 2})), HasSubstr("one query per sentence"));
  EXPECT_THAT(message({Spans::one_row_each(2), Spans({0, 0, 5})}, t.empty({2, 2})), HasSubstr("sentence 0 has no key"));
  EXPECT_THAT(message({Spans::one_row_each(2), Spans({0, 2, 5}), 3}, t.empty({2, 2})), HasSubstr("3 heads"));
}

}  // namespace
}  // namespace dragoman
