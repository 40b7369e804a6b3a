#include <gmock/gmock.h>

#include "backend/registry.h"
#include "model/model.h"

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
