#include <gmock/gmock.h>

#include "backend/backend.h"
#include "backend/registry.h"
#include "model/model.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

constexpr int64_t block = Parameters::flat_block;

TEST(FlatBuffers, HoldEachBufferFromAMultipleOfABlockOn) {
  Arena arena;
  Parameters p(backend("cpu"), arena, DType::f32, Parameters::Flat{4 * block});
  const Var a = p.vector({{"a", 3, Init::ones()}});
  const Var b = p.matrix({{"b", 2, Init::ones()}, {"c", block - 2, Init::ones()}}, 2);
  EXPECT_EQ(p.flat_elements(), 3 * block);
  p.initialise(1);
  const float* values = p.flat_values().as<float>();
  EXPECT_EQ(a.value().as<float>(), values);
  EXPECT_EQ(b.value().as<float>(), values + block);
  EXPECT_EQ(b.node()->gradient.as<float>(), p.flat_gradients().as<float>() + block);
  for (int64_t i = 3; i < block; ++i) ASSERT_EQ(values[i], 0) << "between buffers";
  const Tensor other = arena.allocate({4 * block}, DType::f32);
  p.write_gradients_to(other);
  EXPECT_EQ(b.node()->gradient.as<float>(), other.as<float>() + block);
  EXPECT_EQ(p.named()[2].gradient.as<float>(), other.as<float>() + block + 4);
  const Tensor moments = arena.allocate({4 * block}, DType::f32);
  EXPECT_EQ(p.part_of(moments, 1).as<float>(), moments.as<float>() + block);
  EXPECT_EQ(p.part_of(moments, 1).shape(), b.shape());
}

// A buffer of which only a part is frozen stays whole.
TEST(FlatBuffers, DoNotHoldWhatIsFrozen) {
  Arena arena;
  Parameters p(backend("cpu"), arena, DType::f32, Parameters::Flat{2 * block, {{"a", "c*", "d"}}});
  const Var a = p.vector({{"a", 3, Init::ones()}});
  const Var b = p.matrix({{"b", 2, Init::ones()}, {"c", 2, Init::ones()}}, 2);
  const Var c = p.matrix({{"c1", 2, Init::ones()}, {"c2", 3, Init::ones()}}, 2);
  const Var e = p.vector({{"e", 5, Init::ones()}});
  EXPECT_EQ(p.flat_elements(), 2 * block);
  EXPECT_EQ(b.value().as<float>(), p.flat_values().as<float>());
  EXPECT_EQ(e.value().as<float>(), p.flat_values().as<float>() + block);
  for (const Var& frozen : {a, c}) EXPECT_FALSE(frozen.node());
  for (const auto& slice : p.named()) EXPECT_EQ(slice.frozen, !slice.gradient) << slice.name;
  p.initialise(1);
  EXPECT_EQ(c.value().as<float>()[9], 1);
  const Tensor other = arena.allocate({2 * block}, DType::f32);
  p.write_gradients_to(other);
  EXPECT_EQ(e.node()->gradient.as<float>(), other.as<float>() + block);
  EXPECT_EQ(p.count(), 26);
}

// Copies of frozen weights are made once, those of others at each update.
TEST(FlatBuffers, AreCopiedIn16BitsWithoutWhatIsFrozen) {
  Arena arena;
  Parameters p(backend("cpu"), arena, DType::f32, Parameters::Flat{2 * block, {{"b"}}});
  std::vector<Var> all;
  for (const char* name : {"a", "b", "c"}) all.push_back(p.matrix({{name, 2, Init::ones()}}, 2));
  RoundedWeights rounded = p.rounded_weights(DType::bf16, false);
  p.initialise(1);
  for (const float value : {1.f, 2.f}) {
    for (const Var& x : all) backend("cpu").fill(x, value);
    p.round(rounded);
    for (const Var& x : all) {
      const auto copy = values_of(rounded.copies.at(x.value().data()));
      EXPECT_THAT(copy, testing::Each(x.node() ? value : 1));
      EXPECT_EQ(copy.size(), 4u);
    }
  }
}

ModelConfig tiny(ModelType type) {
  ModelConfig c;
  c.type = type;
  c.dim = 8, c.heads = 2, c.feed_forward = 12, c.encoder_layers = c.decoder_layers = 1, c.rnn.dim = 8;
  c.source_vocabulary = c.target_vocabulary = 11;
  return c;
}

// Training fills them to the last block; decoding does without.
TEST(FlatBuffers, BelongToModelsThatAreTrained) {
  for (const ModelType type : {ModelType::transformer, ModelType::decoder_only, ModelType::s2s}) {
    Arena arena;
    const auto trained = make_model(tiny(type), backend("cpu"), arena, DType::f32, true);
    const Parameters& p = trained->parameters();
    EXPECT_EQ(p.flat_values().elements(), p.flat_elements()) << name_of(type);
    EXPECT_EQ(p.flat_gradients().elements(), p.flat_elements());
    EXPECT_GT(p.flat_elements(), 0);
    const auto decoding = make_model(tiny(type), backend("cpu"), arena, DType::f32, false);
    EXPECT_FALSE(decoding->parameters().flat_values());
    for (const Var& v : decoding->parameters().buffers()) EXPECT_FALSE(v.node());
  }
}

}  // namespace
}  // namespace dragoman
