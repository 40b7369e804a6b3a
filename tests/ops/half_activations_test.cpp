#include <algorithm>
#include <cmath>

#include "backend/backend.h"
#include "ops/attention.h"
#include "ops/dropout.h"
#include "ops/linear.h"
#include "ops/norm.h"
#include "ops/rows.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

// Chains of ops, in which activations of 16 bits pass from one op to the next if they are to (RoundedWeights). The
// harness runs each case in f32 and with activations of 16 bits.

const Spans sequences({0, 1, 4, 21});

Dropout drop(double rate) {
  return {.rate = rate, .seed = 7, .update = 3, .op = 1, .positions = positions_of(sequences)};
}

AttentionShape heads_of(int count) {
  return {.queries = sequences, .keys = sequences, .heads = count, .dropout = drop(0.1)};
}

Var feed_forward(Context& cx, const OpInputs& in) {
  const Var h = linear(cx, layer_norm(cx, in.at("x"), in.at("gamma"), in.at("beta")), in.at("up"), in.at("bias"),
                       Activation::relu);
  return linear(cx, dropout(cx, h, drop(0.2)), in.at("down"), {});
}

// Numbers so small that rounding decides nothing in a softmax of their products.
Var small(Context& cx, const Var& x) {
  const Var gain(cx.arena.allocate({x.cols()}, x.dtype()));
  cx.backend.fill(gain, 0.2);
  return layer_norm(cx, x, gain, {});
}

Var self_attention(Context& cx, const OpInputs& in, bool rotates) {
  const Var x = small(cx, in.at("x")), all = linear(cx, x, in.at("qkv"), in.at("bias"));
  Var q = columns(all, 0, 12), k = columns(all, 12, 12);
  if (rotates) {
    std::vector<float> angles(17 * 6);
    for (size_t i = 0; i < angles.size(); ++i) angles[i] = std::cos(float(i));
    const Tensor table = cx.arena.allocate({17, 6}, in.at("x").dtype());
    cx.backend.copy(table, float_tensor(angles, table.shape()));
    std::vector<int32_t> places(2 * 21);
    for (int32_t n = 0; n < 21; ++n) places[size_t(2 * n)] = places[size_t(2 * n + 1)] = n % 17;
    q = rotate(cx, q, table, int_tensor(places, {21, 2}), 2);
  }
  return linear(cx, attention(cx, q, k, columns(all, 24, 12), heads_of(2)), in.at("out"), {});
}

const OpCase cases[] = {
    {"two_products",
     {{"x", {21, 6}}, {"up", {17, 6}}, {"bias", {17}}, {"down", {5, 17}}},
     [](Context& cx, const OpInputs& in) {
       return linear(cx, linear(cx, in.at("x"), in.at("up"), in.at("bias")), in.at("down"), {});
     }},
    {"feed_forward",
     {{"x", {21, 6}}, {"gamma", {6}}, {"beta", {6}}, {"up", {33, 6}}, {"bias", {33}}, {"down", {6, 33}}},
     feed_forward,
     24,
     false,
     true},
    {"gated_feed_forward",
     {{"x", {21, 9}}, {"up", {34, 9}}, {"bias", {34}}, {"down", {9, 17}}},
     [](Context& cx, const OpInputs& in) {
       const Var h = linear(cx, small(cx, in.at("x")), in.at("up"), in.at("bias"));
       return linear(cx, dropout(cx, gated(cx, h, Activation::swish), drop(0.2)), in.at("down"), {});
     }},
    {"self_attention",
     {{"x", {21, 9}}, {"qkv", {36, 9}}, {"bias", {36}}, {"out", {9, 12}}},
     [](Context& cx, const OpInputs& in) { return self_attention(cx, in, false); }},
    {"self_attention_of_rotated_queries",
     {{"x", {21, 9}}, {"qkv", {36, 9}}, {"bias", {36}}, {"out", {9, 12}}},
     [](Context& cx, const OpInputs& in) { return self_attention(cx, in, true); }},
    {"keys_that_are_values",
     {{"x", {21, 9}}, {"query", {12, 9}}, {"both", {12, 9}}},
     [](Context& cx, const OpInputs& in) {
       const Var x = small(cx, in.at("x")), both = linear(cx, x, in.at("both"), {});
       return attention(cx, linear(cx, x, in.at("query"), {}), both, both, heads_of(3));
     }},
    {"attention_without_projections",  // whose gradients are those of a norm's output: floats
     {{"x", {21, 12}}, {"gamma", {12}}, {"beta", {12}}},
     [](Context& cx, const OpInputs& in) {
       const Var x = small(cx, in.at("x"));
       return residual_norm(cx, x, attention(cx, x, x, x, heads_of(2)), in.at("gamma"), in.at("beta"), drop(0.3));
     }},
    {"attention_of_projected_queries",
     {{"x", {21, 12}}, {"query", {12, 12}}},
     [](Context& cx, const OpInputs& in) {
       const Var x = small(cx, in.at("x"));
       return residual(cx, x, attention(cx, linear(cx, x, in.at("query"), {}), x, x, heads_of(2)), drop(0.3));
     }},
    {"post_norm_sublayer",
     {{"x", {21, 130}}, {"gamma", {130}}, {"beta", {130}}, {"w", {130, 130}}, {"bias", {130}}},
     [](Context& cx, const OpInputs& in) {  // the norm's output has two readers, the product and the residual
       const Var x = layer_norm(cx, in.at("x"), in.at("gamma"), in.at("beta"));
       const Var r = linear(cx, x, in.at("w"), in.at("bias"));
       return residual_norm(cx, x, r, in.at("gamma"), in.at("beta"), drop(0.3));
     }},
    {"pre_norm_sublayer",
     {{"x", {21, 17}}, {"gamma", {17}}, {"w", {17, 17}}},
     [](Context& cx, const OpInputs& in) {
       const Var r = linear(cx, layer_norm(cx, in.at("x"), in.at("gamma"), {}), in.at("w"), {});
       return residual(cx, in.at("x"), r, drop(0.3));
     }},
    {"rows_of_a_product",
     {{"x", {21, 9}}, {"w", {7, 9}}},
     [](Context& cx, const OpInputs& in) {
       const Var y = linear(cx, in.at("x"), in.at("w"), {});
       return pool(cx, y, sequences, Pool::mean);
     }},
};

INSTANTIATE_TEST_SUITE_P(HalfActivations, OpCheck, testing::ValuesIn(cases), name_of_case);

RoundedWeights rounded_copies(ByHand& t, const std::vector<Var>& weights) {
  RoundedWeights rounded{.type = DType::bf16, .activations = true};
  for (const Var& weight : weights) {
    const Tensor copy = t.arena.allocate(weight.shape(), DType::bf16);
    t.cx.backend.copy(copy, weight);
    rounded.copies.emplace(weight.value().data(), copy);
  }
  return rounded;
}

// What is kept has 16 bits: the aim of it all.
TEST(HalfActivations, AreWhatProductsAndNormsGive) {
  ByHand t("cpu", DType::f32);
  const Var x = t.random({4, 8}, 1), w = t.random({8, 8}, 2), b = t.random({8}, 3);
  RoundedWeights rounded = rounded_copies(t, {w, b});
  t.cx.rounded = &rounded;
  const Var y = linear(t.cx, x, w, b, Activation::relu), normed = layer_norm(t.cx, x, b, b);
  EXPECT_EQ(y.dtype(), DType::bf16);
  EXPECT_EQ(y.gradient_type(), DType::bf16);
  EXPECT_EQ(normed.dtype(), DType::bf16);
  EXPECT_EQ(normed.gradient_type(), DType::f32);
  EXPECT_EQ(widened(t.cx, y).dtype(), DType::f32);
  EXPECT_EQ(residual(t.cx, normed, y, {}).dtype(), DType::f32);
  rounded.activations = false;
  EXPECT_EQ(linear(t.cx, x, w, b).dtype(), DType::f32);
  EXPECT_EQ(layer_norm(t.cx, x, b, b).dtype(), DType::f32);
}

// Halves up to ±1: sums of two products and a bias have so few bits that nothing is rounded.
std::vector<double> halves(int64_t count, uint64_t stream) {
  std::vector<double> values = normals(count, stream);
  for (double& v : values) v = std::round(std::clamp(v, -1.0, 1.0) * 2) / 2;
  return values;
}

TEST(HalfActivations, ReluIsThatOfF32WhereNothingIsRounded) {
  std::vector<std::vector<double>> results;
  for (const bool half : {false, true}) {
    ByHand t("cpu", DType::f32);
    const Var x = t.var({37, 2}, halves(74, 1)), w = t.var({19, 2}, halves(38, 2)), b = t.var({19}, halves(19, 3));
    const RoundedWeights rounded = rounded_copies(t, {w, b});
    if (half) t.cx.rounded = &rounded;
    const Var y = linear(t.cx, x, w, b, Activation::relu);
    results.push_back(values_of(y));
    const Var wide = widened(t.cx, y);
    t.backward(wide, halves(37 * 19, 4));
    for (const Var& of : {x, w, b}) results.push_back(values_of(of.node()->gradient));
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], results[i + 4]) << i;
}

}  // namespace
}  // namespace dragoman
