#include "io/int8_weights.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/philox.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Rounded {
  std::vector<int8_t> q;
  std::vector<float> scales;
  bool operator==(const Rounded&) const = default;
};

Rounded round(std::vector<float> w, int64_t rows) {
  const int64_t cols = int64_t(w.size()) / rows;
  Rounded r{std::vector<int8_t>(w.size()), std::vector<float>(size_t(rows))};
  round_rows(Tensor::borrow(r.q.data(), {rows, cols}), Tensor::borrow(r.scales.data(), {rows}),
             Tensor::borrow(w.data(), {rows, cols}), "w");
  return r;
}

std::vector<float> rounded_in_place(std::vector<float> w, int64_t rows) {
  round_in_place(Tensor::borrow(w.data(), {rows, int64_t(w.size()) / rows}), "w");
  return w;
}

TEST(Int8Weights, AreTheNearestIntegersTiesToEven) {
  const Rounded r = round({254, -2, 3, 1, 0, -127, 63.5f, 0.4f, -1.5f, 2.5f}, 2);
  EXPECT_THAT(r.scales, ElementsAre(2, 1));
  EXPECT_THAT(r.q, ElementsAre(127, -1, 2, 0, 0, -127, 64, 0, -2, 2));
}

TEST(Int8Weights, OfZerosAreZeros) {
  const Rounded r = round({0, -0.f, 0}, 1);
  EXPECT_THAT(r.scales, ElementsAre(0));
  EXPECT_THAT(r.q, ElementsAre(0, 0, 0));
}

TEST(Int8Weights, TooSmallForFloat32ToDivideByAreZeros) {
  const Rounded r = round({1e-38f, -1e-44f}, 1);
  EXPECT_THAT(r.scales, ElementsAre(0));
  EXPECT_THAT(r.q, ElementsAre(0, 0));
}

// What the format rests on. Other exponents only shift the same digits.
TEST(Int8Weights, HaveScalesThatComeBackFromTheLargestOfTheirRow) {
  int64_t lost = 0;
  for (uint32_t digits = 0; digits < 1u << 23; ++digits) {
    const float top = std::bit_cast<float>(0x3f800000u | digits), scale = top / 127;
    lost += (127 * scale) / 127 != scale;
  }
  EXPECT_EQ(lost, 0);
}

TEST(Int8Weights, AreRoundedOnceAndForAll) {
  PhiloxSequence random(1, 2);
  for (const float size : {1e-36f, 1e-20f, 0.02f, 1.f, 3e7f, 1e37f}) {
    std::vector<float> w(64 * 33);
    for (float& value : w) value = size * float(random.normal());
    const Rounded once = round(w, 64);
    const std::vector<float> restored = rounded_in_place(w, 64);
    for (size_t i = 0; i < w.size(); ++i) ASSERT_EQ(restored[i], float(once.q[i]) * once.scales[i / 33]);
    EXPECT_EQ(round(restored, 64), once) << size;
    EXPECT_EQ(rounded_in_place(restored, 64), restored) << size;
  }
}

TEST(Int8Weights, ThatAreNotFiniteAreAnError) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {NAN, -NAN, infinity, -infinity})
    EXPECT_THAT(error_of([&] { round({1, 2, value, 3}, 2); }), HasSubstr("w holds "));
  EXPECT_THAT(error_of([&] { round({1, -infinity}, 1); }), HasSubstr("w holds inf, expected finite numbers"));
  EXPECT_THAT(error_of([&] { rounded_in_place({1, NAN}, 1); }), HasSubstr("w holds nan, expected finite numbers"));
}

TEST(Int8Weights, AtTheEndOfFloat32WouldOverflowAndAreAnError) {
  EXPECT_EQ(error_of([&] {
              round({1, std::numeric_limits<float>::max()}, 1);
            }),
            "w holds 3.4028235e+38, too large to be stored in 8 bits");
  EXPECT_EQ(error_of([&] { round({1, 3.4028e38f}, 1); }), "");
}

struct Int8Model : InFolder {
  Int8Model() {
    config.positions = Positions::learned;
    config.max_positions = 8;
    model = toy_model(arena, 1, config);
    weights = in_int8(weights_of(model->parameters()), arena, "m");
    save_model(at("f32"), config, vocabularies, weights_of(model->parameters()));
    save_model(at("int8"), config, vocabularies, weights);
  }

  // The message for a file in which `change` has been done to the weights.
  std::string complaint_after(const std::function<void(std::vector<NamedTensor>&)>& change) {
    auto changed = weights;
    change(changed);
    save_model(at("changed"), config, vocabularies, changed);
    return error_of([&] { load_model(at("changed"), backend("cpu"), arena); });
  }
  std::string complaint_with(const std::string& name, const Tensor& value) {
    return complaint_after([&](auto& changed) {
      std::erase_if(changed, [&](const NamedTensor& w) { return w.name == name; });
      changed.push_back({name, value});
    });
  }
  Tensor tensor(std::vector<float> values) {
    const Tensor t = arena.allocate({int64_t(values.size())}, DType::f32);
    std::ranges::copy(values, t.as<float>());
    return t;
  }

  const std::string up = "encoder.0.feed_forward.up.weight";  // (24,16)
  const Vocabularies vocabularies{toy_vocabulary(), toy_vocabulary()};
  ModelConfig config = toy_config();
  Arena arena;
  std::unique_ptr<Model> model;
  std::vector<NamedTensor> weights;
};

TEST_F(Int8Model, HoldsItsMatricesInBytesAndTheRestInFloats) {
  const ModelFile file(at("int8"));
  EXPECT_EQ(file.stored_type(), DType::i8);
  EXPECT_EQ(ModelFile(at("f32")).stored_type(), DType::f32);
  for (const auto& [name, type] : {std::pair{up, DType::i8},
                                   {scale_name(up), DType::f32},
                                   {"embedding.weight", DType::i8},
                                   {"encoder.positions.weight", DType::f32},
                                   {"encoder.0.feed_forward.up.bias", DType::f32},
                                   {"encoder.0.feed_forward_norm.weight", DType::f32}})
    EXPECT_EQ(file.tensors().get(name).dtype, type) << name;
  EXPECT_EQ(file.tensors().find(scale_name("encoder.positions.weight")), nullptr);
  EXPECT_THAT(file.tensors().get(scale_name(up)).shape, ElementsAre(24));
}

TEST_F(Int8Model, IsScaleTimesIntegerForWhoeverLoadsIt) {
  const ModelFile file(at("int8"));
  const auto q = values_of<int8_t>(file.tensors().get(up));
  const auto scales = values_of<float>(file.tensors().get(scale_name(up)));
  const auto loaded = make_model(config, backend("cpu"), arena, DType::f32, false);
  file.load_weights(loaded->parameters());
  const auto& named = loaded->parameters().named();
  const auto weight = std::ranges::find(named, up, &Parameters::Named::name);
  for (size_t i = 0; i < q.size(); ++i) EXPECT_EQ(weight->value.as<float>()[i], float(q[i]) * scales[i / 16]);
}

std::string bytes_of(const Tensor& t) { return {static_cast<const char*>(t.data()), size_t(t.bytes())}; }

void expect_same(const LoadedModel& of_floats, const LoadedModel& of_bytes) {
  const Parameters &a = of_floats.model->parameters(), &b = of_bytes.model->parameters();
  ASSERT_FALSE(of_floats.packed.empty());
  ASSERT_EQ(of_floats.packed.size(), of_bytes.packed.size());
  for (size_t i = 0; i < a.buffers().size(); ++i) {
    const auto packed_a = of_floats.packed.find(a.buffers()[i].value().data());
    const auto packed_b = of_bytes.packed.find(b.buffers()[i].value().data());
    ASSERT_EQ(packed_a == of_floats.packed.end(), packed_b == of_bytes.packed.end());
    if (packed_a == of_floats.packed.end()) continue;
    EXPECT_EQ(bytes_of(packed_a->second), bytes_of(packed_b->second)) << i;
  }
  for (size_t i = 0; i < a.named().size(); ++i) {
    if (a.use_of(a.named()[i].buffer) == Parameters::Use::product) continue;  // exist packed alone
    EXPECT_EQ(bytes_of(a.named()[i].value), bytes_of(b.named()[i].value)) << a.named()[i].name;
  }
}

TEST_F(Int8Model, IsToTheBitWhatInt8MakesOfTheFloats) {
  expect_same(load_model(at("f32"), backend("cpu"), arena, DType::i8),
              load_model(at("int8"), backend("cpu"), arena, DType::i8));
}

TEST_F(Int8Model, IsToTheBitWhatInt8MakesOfTheFloatsOfAnyKindOfModel) {
  std::vector<ModelConfig> kinds(7, toy_config());
  kinds[0].embeddings.tied_all = false;
  kinds[1].type = ModelType::decoder_only;
  kinds[2].positions = Positions::relative;
  kinds[3].attention.score = AttentionScore::location;
  kinds[4].experts.count = 3, kinds[4].encoder_layers = kinds[4].decoder_layers = 2;
  kinds[5].type = kinds[6].type = ModelType::s2s;
  kinds[5].rnn.encoder.pooling = EncoderPooling::attention;
  kinds[6].rnn.encoder.pooling = EncoderPooling::hierarchical;
  kinds[6].rnn.encoder.sentence_ends = {5, 6};
  for (const ModelConfig& kind : kinds) {
    const auto floats = weights_of(toy_model(arena, 1, kind)->parameters());
    save_model(at("f32"), kind, vocabularies, floats);
    save_model(at("int8"), kind, vocabularies, in_int8(floats, arena, "m"));
    expect_same(load_model(at("f32"), backend("cpu"), arena, DType::i8),
                load_model(at("int8"), backend("cpu"), arena, DType::i8));
  }
}

// Of a product of several weights, some may be in floats, as of an embedding that only one side has.
TEST_F(Int8Model, MayHoldSomeMatricesInFloats) {
  std::erase_if(weights, [](const NamedTensor& w) {
    return w.name.find("key.weight") != w.name.npos || w.name.starts_with("embedding.weight");
  });
  for (const NamedTensor& w : weights_of(model->parameters()))
    if (w.name.ends_with("key.weight") || w.name == "embedding.weight") weights.push_back(w);
  save_model(at("mixed"), config, vocabularies, weights);
  expect_same(load_model(at("f32"), backend("cpu"), arena, DType::i8),
              load_model(at("mixed"), backend("cpu"), arena, DType::i8));
}

TEST_F(Int8Model, IsRefusedWithoutItsScales) {
  EXPECT_EQ(complaint_after([&](auto& changed) {
              std::erase_if(changed, [&](const NamedTensor& w) { return w.name == scale_name(up); });
            }),
            at("changed") + ": " + up + " is of type I8, but its scales " + up + "_scale are missing");
}

TEST_F(Int8Model, IsRefusedWithScalesOfAnotherShape) {
  EXPECT_EQ(complaint_with(scale_name(up), tensor({1, 2, 3})),
            at("changed") + ": " + up + "_scale is (3) of F32, expected (24) of F32");
  EXPECT_THAT(complaint_with(scale_name(up), arena.allocate({24}, DType::i32)), HasSubstr("is (24) of I32, expected"));
}

TEST_F(Int8Model, IsRefusedWithScalesThatNoRowHas) {
  for (const float scale : {NAN, -1.f, std::numeric_limits<float>::infinity(), 3e36f}) {
    std::vector<float> scales(24, 1);
    scales[5] = scale;
    EXPECT_EQ(complaint_with(scale_name(up), tensor(scales)),
              fmt::format("{}: {}_scale holds {} for row 5, expected 0 to 2.6e36", at("changed"), up, scale));
  }
}

TEST_F(Int8Model, IsRefusedWithAnIntegerThatRoundingDoesNotMake) {
  const Tensor q = arena.allocate({24, 16}, DType::i8);
  std::fill_n(q.as<int8_t>(), q.elements(), int8_t{-127});
  EXPECT_EQ(complaint_with(up, q), "");
  q.as<int8_t>()[100] = -128;
  EXPECT_THAT(complaint_with(up, q), HasSubstr(up + " holds -128, expected -127 to 127"));
}

TEST_F(Int8Model, IsRefusedWithAVectorInBytesAndWithScalesOfFloats) {
  EXPECT_THAT(complaint_with("encoder.0.feed_forward.up.bias", arena.allocate({24}, DType::i8)),
              HasSubstr("up.bias is of type I8, expected F32: only matrices are stored in 8 bits"));
  EXPECT_THAT(complaint_with("encoder.positions.weight_scale", tensor({1, 2})),
              HasSubstr("encoder.positions.weight_scale is not part of the model"));
}

TEST_F(Int8Model, NamesTheTensorThatIsNotFinite) {
  for (const auto& p : model->parameters().named()) {
    if (p.name != up && p.name != "encoder.0.feed_forward.up.bias") continue;
    const float before = p.value.as<float>()[7];
    p.value.as<float>()[7] = NAN;
    EXPECT_EQ(error_of([&] { in_int8(weights_of(model->parameters()), arena, "m"); }),
              "m: " + p.name + " holds nan, expected finite numbers");
    p.value.as<float>()[7] = before;
  }
}

}  // namespace
}  // namespace dragoman
