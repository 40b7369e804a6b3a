#include <gtest/gtest.h>

#include <cmath>

#include "ops/attention.h"
#include "ops/linear.h"
#include "ops/loss.h"
#include "ops/norm.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

// A layer and the loss in the sizes of training, with grids, offsets and chunks that small cases never reach. The
// reference would take hours, so the cpu backend takes its role.
namespace dragoman {
namespace {

struct Sizes {
  int64_t tokens, D, ffn, vocabulary;
  int heads;
};

/// ‖some − others‖ / ‖others‖
double distance(const std::vector<double>& some, const std::vector<double>& others) {
  EXPECT_EQ(some.size(), others.size());
  double error = 0, all = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    error += (some[i] - others[i]) * (some[i] - others[i]);
    all += others[i] * others[i];
  }
  return std::sqrt(error / all);
}

/// Sentences of 1 to 90 tokens.
Spans sentences(int64_t tokens) {
  std::vector<int32_t> lengths;
  for (int64_t left = tokens; left > 0; left -= lengths.back())
    lengths.push_back(int32_t(std::min<int64_t>(left, 1 + int64_t(lengths.size()) * 37 % 90)));
  return Spans::of_lengths(lengths);
}

class Layer : ByHand {
 public:
  Layer(const Backend& backend, const Sizes& sizes, DType factors)
      : ByHand(backend, DType::f32, int64_t{1} << 34), s_(sizes) {
    rounded_.type = factors;
    if (is_half(factors)) cx.rounded = &rounded_;
  }

  /// Values by name: the losses, and all gradients.
  std::map<std::string, std::vector<double>> compute() {
    const Var x = add("x", {s_.tokens, s_.D}, 1);
    const Var qkv = linear(cx, x, weight("qkv", 3 * s_.D, s_.D), Var());
    const Spans rows = sentences(s_.tokens);
    AttentionShape shape{rows, rows, s_.heads, Visibility::past(), Score::scaled_dot, {}};
    shape.dropout = cx.dropout(0.1, positions_of(rows));
    const auto part = [&](int i) { return columns(qkv, i * s_.D, s_.D); };
    std::vector<int32_t> buckets(2 * 128 + 1);
    for (size_t i = 0; i < buckets.size(); ++i) buckets[i] = int32_t(i % 32);
    const Var bias = bucket_bias(cx, add("biases", {s_.heads, 32}, 1), buckets, 1);
    const Var seen = attention(cx, part(0), part(1), part(2), shape, {.bias = bias});
    const Var norm = residual_norm(cx, x, seen, add("gain", {s_.D}, 1), add("shift", {s_.D}, 1), {});
    const Var wide = linear(cx, norm, weight("up", 2 * s_.ffn, s_.D), add("up.bias", {2 * s_.ffn}, 1));
    const Var y =
        linear(cx, gated(cx, wide, Activation::gelu), weight("down", s_.D, s_.ffn), add("down.bias", {s_.D}, 1));
    std::vector<int32_t> labels;
    for (int64_t n = 0; n < s_.tokens; ++n) labels.push_back(int32_t(n * 7919 % s_.vocabulary));
    const Tensor ids = int_tensor(labels, {s_.tokens});
    const TokenLoss loss = linear_cross_entropy(cx, y, weight("output", s_.vocabulary, s_.D), ids, 0.1);
    tape.backward(cx.backend, arena);
    std::map<std::string, std::vector<double>> all{{"loss", values_of(loss.loss)}};
    for (const auto& [name, v] : inputs_) all[name] = values_of(v.node()->gradient);
    return all;
  }

 private:
  Var add(const std::string& name, Shape shape, double scale) {
    std::vector<double> values = normals(shape.elements(), inputs_.size() + 1);
    for (double& v : values) v = float(v * scale);
    return inputs_.emplace(name, var(shape, values)).first->second;
  }
  Var weight(const std::string& name, int64_t D, int64_t K) {
    const Var w = add(name, {D, K}, 1 / std::sqrt(double(K)));
    if (!is_half(rounded_.type)) return w;
    const Tensor copy = arena.allocate({D, K}, rounded_.type);
    cx.backend.copy(copy, w);
    rounded_.copies.emplace(w.value().data(), copy);
    return w;
  }

  const Sizes s_;
  RoundedWeights rounded_;
  std::map<std::string, Var> inputs_;
};

void check(const Backend& gpu, const Sizes& sizes) {
  const auto expected = Layer(backend("cpu"), sizes, DType::f32).compute();
  for (const DType factors : {DType::f32, DType::bf16}) {
    SCOPED_TRACE(fmt::format("products of {}, {} tokens, {} pieces", factors, sizes.tokens, sizes.vocabulary));
    const auto actual = Layer(gpu, sizes, factors).compute();
    for (const auto& [name, values] : expected)
      EXPECT_LE(distance(actual.at(name), values), factors == DType::f32 ? 1e-4 : tolerance(factors)) << name;
    EXPECT_EQ(Layer(gpu, sizes, factors).compute(), actual) << "in a second run";
  }
}

TEST(ShapesOfTraining, KernelsForGpusAgreeWithTheCpu) {
  for (const int64_t V : {128, 131}) check(gpu_on_host(), {300, 16, 32, V, 2});
}

class ShapesOfTrainingOnGpus : public testing::TestWithParam<int64_t> {};

TEST_P(ShapesOfTrainingOnGpus, AgreeWithTheCpu) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  check(gpu(), {25'000, 512, 2048, GetParam(), 8});
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, ShapesOfTrainingOnGpus, testing::Values(32'000, 31'999),
                         [](const auto& info) { return fmt::format("{}Pieces", info.param); });

}  // namespace
}  // namespace dragoman
