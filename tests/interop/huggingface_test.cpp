#include "interop/huggingface.h"

#include <gmock/gmock.h>

#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "interop/open_model.h"
#include "io/safetensors.h"
#include "tests/interop/score_difference.h"
#include "tests/interop/torch_stream.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string golden(const std::string& name) { return DRAGOMAN_SOURCE_DIR "/tests/interop/golden/marianmt/" + name; }

/// The golden model with its SentencePiece models.
class MarianMt : public testing::Test {
 protected:
  MarianMt() {
    for (const char* name : {"config.json", "vocab.json", "model.safetensors"})
      folder.make(name, read_file(golden(name)));
    const std::string model = read_file(DRAGOMAN_SOURCE_DIR "/tests/vocab/golden/bpe.spm");
    folder.make("source.spm", model), folder.make("target.spm", model);
  }
  std::string path() const { return folder / ""; }
  void set(const std::string& key, const std::string& value) {
    std::string config = read_file(golden("config.json"));
    const size_t at = config.find('"' + key + '"'), begin = config.find(": ", at) + 2,
                 end = config.find_first_of(",\n", begin);
    config.replace(begin, end - begin, value);
    folder.make("config.json", config);
  }
  std::string complaint() {
    try {
      read_huggingface(path());
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder;
};

std::vector<int32_t> numbers(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<int32_t>(in), {}};
}

std::vector<ScoredPair> golden_pairs() {
  std::istringstream text(read_file(golden("pairs.ids")));
  std::vector<ScoredPair> pairs;
  for (std::string source, target, score;
       std::getline(text, source, '\t') && std::getline(text, target, '\t') && std::getline(text, score);)
    pairs.push_back({numbers(source), numbers(target), std::stod(score)});
  return pairs;
}

TEST_F(MarianMt, GivesTheProbabilitiesThatTransformersGives) {
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
}

// As a program does that takes Marian's formulas for those of Hugging Face.
TEST_F(MarianMt, GivesOthersIfAFormulaIsAnother) {
  const ConvertedModel model = *read_huggingface(path());
  const auto changed = [&](void (*change)(ModelConfig&)) {
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs());
  };
  EXPECT_GT(changed([](ModelConfig& c) { c.position_spacing = PositionSpacing::tensor2tensor; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::gelu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_heads = 2; }), 1e-3);
}

// float16 and bfloat16 keep their bytes in what is written, and are read.
TEST_F(MarianMt, MayHaveWeightsInHalfPrecision) {
  ConvertedModel model = *read_huggingface(path());
  for (TensorEntry& weight : model.weights) {
    weight.dtype = DType::f16;
    weight.make = [floats = weight.make] {
      const std::vector<std::byte> from = floats();
      std::vector<std::byte> to(from.size() / 2);
      for (size_t i = 0; i < to.size() / 2; ++i) {
        float value = 0;
        std::memcpy(&value, from.data() + 4 * i, 4);
        const float16 half(value);
        std::memcpy(to.data() + 2 * i, &half, 2);
      }
      return to;
    };
  }
  const ModelFile file = ModelFile::in_memory("m", model.config, model.vocabularies, model.weights);
  EXPECT_EQ(file.tensors().get("embedding.weight").dtype, DType::f16);
  EXPECT_LT(score_difference(file, golden_pairs()), 1e-2);
  EXPECT_GT(score_difference(file, golden_pairs()), 1e-6);
}

// A line may begin with the language to translate into; pieces that the list lacks are unknown.
TEST_F(MarianMt, NumbersPiecesByItsList) {
  const Vocabularies v = read_huggingface(path())->vocabularies;
  EXPECT_EQ(v.source.size(), 204);
  EXPECT_THAT(v.source.encode(">>deu<<"), ElementsAre(2));
  const auto with = v.source.encode(">>deu<< a dog"), without = v.source.encode("a dog");
  ASSERT_EQ(with.size(), without.size() + 1);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin() + 1));
}

TEST_F(MarianMt, RefusesByNameWhatIsAnotherModel) {
  set("model_type", "\"m2m_100\"");
  EXPECT_THAT(complaint(), HasSubstr("config.json: model_type is m2m_100, expected marian"));
  set("activation_function", "\"mish\"");
  EXPECT_THAT(complaint(), HasSubstr("activation_function is mish, which dragoman does not know"));
  set("d_model", "\"8\"");
  EXPECT_THAT(complaint(), HasSubstr("d_model is \"8\", expected another kind of value"));
  set("encoder_layers", "3");
  EXPECT_THAT(complaint(), HasSubstr("has no tensor model.encoder.layers.2.self_attn.q_proj.weight"));
  set("decoder_layers", "null");
  EXPECT_THAT(complaint(), HasSubstr("has no decoder_layers"));
  set("decoder_start_token_id", "7");
  EXPECT_THAT(complaint(), HasSubstr("decoder_start_token_id is 7"));
}

std::string torch_copy_of(const SafetensorsFile& model, size_t first, size_t last) {
  std::vector<TorchTensor> tensors;
  for (size_t i = first; i < last; ++i) {
    const TensorEntry& t = model.tensors()[i];
    std::vector<int64_t> strides(t.shape.size(), 1);
    for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * t.shape[d];
    tensors.push_back({.name = t.name,
                       .shape = t.shape,
                       .strides = strides,
                       .data = {reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size()}});
  }
  return torch_stream(tensors);
}

TEST_F(MarianMt, MayHaveItsWeightsInFilesOfTorch) {
  const SafetensorsFile model(golden("model.safetensors"));
  const size_t count = model.tensors().size();
  std::filesystem::remove(folder / "model.safetensors");
  folder.make("pytorch_model.bin", torch_copy_of(model, 0, count));
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
  std::filesystem::remove(folder / "pytorch_model.bin");
  folder.make("a.bin", torch_copy_of(model, 0, 5));
  folder.make("b.bin", torch_copy_of(model, 5, count));
  folder.make("pytorch_model.bin.index.json", R"({"weight_map": {"x": "a.bin", "y": "b.bin"}})");
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
}

TEST(HuggingFace, IsAFolderWithAConfiguration) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_huggingface(folder / ""));
  EXPECT_FALSE(read_huggingface(folder.make("config.json", "{}")));
}

}  // namespace
}  // namespace dragoman
