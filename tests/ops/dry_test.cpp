#include <gmock/gmock.h>

#include <array>

#include "backend/backend.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

// Memory without access rights: a kernel that touched it would be killed.
struct Dry : testing::Test {
  Arena arena{Arena::Reserve::addresses_only};
  const Backend b = dry_like(backend("cpu"));
  Tensor x = arena.allocate({3, 4}, DType::f32), v = arena.allocate({4}, DType::f32);
  Tensor ids = arena.allocate({3}, DType::i32), none;
  Grad dx{x}, dv{v};
  Dropout drop{.rate = 0.5};
};

TEST_F(Dry, CallsEverySlotWithoutTouchingOrAllocatingMemory) {
  const int64_t before = arena.peak();
  const Embedding embedding{ids, ids, x, x};
  const AttentionShape shape{Spans({0, 3}), Spans({0, 3}), 2};
  const std::array adam{AdamTensor{x, x, x, x}};
  const std::array rows{RoundedRows{x, v}};
  b.fill(x, 1), b.copy(x, x), b.add(x, x, 2);
  b.linear(x, x, x, v, Activation::relu), b.linear_backward_input(dx, x, x), b.linear_backward_weight(dx, dv, x, x);
  b.linear_backward_result(x, dv, x, x, Activation::relu);
  b.pack(x, x), b.pack_rounded(x, rows), b.linear_packed(x, x, x, v, Activation::relu, none);
  b.activation(x, x, Activation::gelu), b.activation_backward(dx, x, x, Activation::gelu);
  b.gated(x, x, Activation::gelu), b.gated_backward(dx, x, x, Activation::gelu);
  b.embedding(x, embedding), b.embedding_backward(dx, dx, x, embedding);
  b.dropout(x, x, x, drop), b.dropout_backward(dx, x, drop);
  b.layer_norm(x, v, v, x, v, v, 1e-5);
  b.residual_norm(Backend::ResidualNorm{x, x, v, v, x, x, v, v, drop, 1e-5});
  b.norm_backward(Backend::NormBackward{dx, dx, dv, dv, x, x, v, v, v, drop, none});
  b.batch_norm(Backend::BatchNorm{x, v, v, v, v, x, v, v, 1e-5, 0.1});
  b.batch_norm_backward(Backend::BatchNormBackward{dx, dv, dv, x, x, v, v, v, true, x});
  const Backend::Attention attention{x, x, x, x, x, x, v, shape, none, x};
  b.attention(attention), b.attention_backward(Backend::AttentionBackward{dx, dx, dx, dx, dv, x, attention});
  b.attention_step(Backend::AttentionStep{x, x, x, x, {}, {}, {}, x, v, {}, {ids, ids}}), b.rotate(x, x, x, ids, 2, 1);
  b.choose(Backend::Choice{ids, x, x, v, shape.keys, drop});
  b.reinforce_signal(Backend::ReinforceSignal{x, v, none, ids, shape.keys, 0, 0, 0});
  b.gaussian_window(Backend::GaussianWindow{x, v, x, x, x, shape.keys, 2});
  b.gaussian_window_backward(Backend::GaussianWindowBackward{dx, dx, x, v, x, x, shape.keys, 2});
  b.running_average(x, x, x, shape.keys), b.gate(x, x, x), b.gate_backward(dx, dx, x, x, x);
  b.running_average_backward(Backend::RunningAverageBackward{dx, dx, x, x, x, x, shape.keys});
  b.running_average_step(x, x, x, x, StepKeys{ids, ids});
  b.linear_cross_entropy(Backend::LinearCrossEntropy{v, v, dx, dx, x, x, ids});
  b.copy_step(Backend::CopyStep{x, x, v, x, x, x, {ids, ids}, ids});
  b.top_k(x, ids, v, x), b.next_rows(Backend::NextRows{}), b.gather_rows(x, x, ids), b.scatter_rows(x, x, ids);
  b.mix_rows(x, x, ids, x), b.mix_rows_backward(dx, dx, x, x, ids, x);
  b.route(x, ids, x), b.route_backward(dx, x, x, ids, v, v);
  b.adam(adam, AdamStep{}, AdamTotals{}), b.moving_average(x, x, 0.5);
  b.sum(Grad{x}, x), b.sum_of_squares(x, std::span(&x, 1));
  EXPECT_EQ(arena.peak(), before);
}

TEST_F(Dry, AsksForTheScratchOfTheRealThing) {
  const Backend& cpu = backend("cpu");
  const AttentionShape shape{Spans({0, 37}), Spans({0, 41}), 2};
  for (const DType type : {DType::f32, DType::i8}) {
    EXPECT_EQ(b.packed_elements(33, 5, type), cpu.packed_elements(33, 5, type));
    EXPECT_EQ(b.linear_packed_scratch(7, 5, type), cpu.linear_packed_scratch(7, 5, type));
  }
  EXPECT_EQ(b.norm_scratch(33), cpu.norm_scratch(33));
  EXPECT_EQ(b.attention_scratch(shape, 8, 16), cpu.attention_scratch(shape, 8, 16));
  EXPECT_EQ(b.attention_step_scratch(3, 41), cpu.attention_step_scratch(3, 41));
  EXPECT_EQ(b.linear_cross_entropy_scratch(700, 33, DType::f32), cpu.linear_cross_entropy_scratch(700, 33, DType::f32));
}

TEST(Backend, OfAnUnknownNameListsTheKnownOnes) {
  const std::string message = error_of([] { backend("abacus"); });
  for (const char* name : {"abacus", "cpu", "cuda:0", "reference"}) EXPECT_THAT(message, testing::HasSubstr(name));
  for (const char* name : {"dry", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda:0:fast", "cuda:99999999999"})
    EXPECT_THAT(error_of([&] { backend(name); }), testing::StartsWith(fmt::format("unknown backend '{}'", name)));
}

TEST(Backend, WithoutAKernelSaysItsName) {
  const Backend empty{.name = "empty"};
  EXPECT_THAT(error_of([&] { empty.sum(Grad(), Tensor()); }), testing::HasSubstr("sum"));
}

}  // namespace
}  // namespace dragoman
