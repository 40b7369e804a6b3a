#include "io/load_model.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "tests/io/test_files.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

struct ModelFileOnDisk : InFolder {
  // The message for a file with the toy model's weights and this configuration; "" where it is opened.
  std::string complaint(const ModelConfig& config) const {
    Arena arena;
    const auto weights = weights_of(toy_model(arena, 1)->parameters());
    save_model(at("model"), config, {toy_vocabulary(), toy_vocabulary()}, weights);
    try {
      ModelFile file(at("model"));
      return "";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(at("model")));
      return error.what();
    }
  }
};

TEST_F(ModelFileOnDisk, IsRefusedWhereItsConfigurationAsksForMoreThanItHolds) {
  EXPECT_EQ(complaint(toy_config()), "");
  struct Case {
    const char* name;
    int ModelConfig::*member;
    int most;  // that is possible, but not in so small a file
  };
  for (const auto& [name, member, most] : {Case{"encoder_layers", &ModelConfig::encoder_layers, 1000},
                                           {"decoder_layers", &ModelConfig::decoder_layers, 1000},
                                           {"dim", &ModelConfig::dim, 65536},
                                           {"feed_forward", &ModelConfig::feed_forward, 1'000'000},
                                           {"heads * key_size", &ModelConfig::key_size, 65536},
                                           {"heads * value_size", &ModelConfig::value_size, 65536}}) {
    ModelConfig config = toy_config();
    config.*member = most;
    EXPECT_THAT(complaint(config), HasSubstr(fmt::format("'{}' is ", name)));
  }
  ModelConfig learned = toy_config();
  learned.positions = Positions::learned;
  learned.max_positions = 1'000'000;
  EXPECT_THAT(complaint(learned),
              HasSubstr("'max_positions' is 1000000 in the model's configuration, expected at most"));
}

// Splitting a text into segments without room for a piece would never end.
TEST_F(ModelFileOnDisk, IsRefusedIfItsPositionsLeaveNoRoomForASentence) {
  ModelConfig config = toy_config();
  config.positions = Positions::learned, config.max_positions = 2;
  EXPECT_EQ(complaint(config), "");
  config.generation.source_language = SourceLanguage::first;  // as yet unknown
  EXPECT_THAT(complaint(config), HasSubstr("--transformer-max-positions 2 leaves no room for a sentence, expected at "
                                           "least 3: special tokens around a source take 2"));
  config.generation.source_language = SourceLanguage::none, config.max_positions = 1;
  EXPECT_THAT(complaint(config), HasSubstr("--transformer-max-positions 1 leaves no room for a sentence"));
}

TEST_F(ModelFileOnDisk, IsRefusedWithoutHeadsOrColumns) {
  for (const auto member : {&ModelConfig::heads, &ModelConfig::dim, &ModelConfig::feed_forward}) {
    ModelConfig config = toy_config();
    config.*member = 0;
    EXPECT_THAT(complaint(config), HasSubstr(": 0 is out of range, expected from "));
  }
}

TEST_F(ModelFileOnDisk, IsRefusedWithExpertsThatCannotBe) {
  ModelConfig config = toy_config();
  config.experts.count = 3, config.experts.frequency = 1;
  EXPECT_EQ(complaint(config), "");
  config.experts.top_k = 4;
  EXPECT_THAT(complaint(config),
              HasSubstr(": its model configuration is impossible: --moe-top-k 4 exceeds --moe-experts 3"));
  config.experts.top_k = 2, config.experts.frequency = 0;
  EXPECT_THAT(complaint(config), HasSubstr("--moe-frequency: 0 is out of range, expected from 1 to 1000"));
}

TEST_F(ModelFileOnDisk, IsRefusedWithBlocksOrStridesOfNothing) {
  for (const auto& [name, member] :
       {std::pair{"attention-block", &AttentionConfig::block}, {"attention-stride", &AttentionConfig::stride}}) {
    ModelConfig config = toy_config();
    config.type = ModelType::decoder_only, config.attention.memory = AttentionMemory::local_compressed;
    config.decoder_layers = 2;
    EXPECT_EQ(complaint(config), "");
    config.attention.*member = 0;
    EXPECT_THAT(complaint(config), HasSubstr(fmt::format("--{}: 0 is out of range", name)));
  }
}

TEST_F(ModelFileOnDisk, IsRefusedAsARecurrentModelWithoutLayersOrStates) {
  ModelConfig config = toy_config();
  config.type = ModelType::s2s, config.rnn.dim = 16;
  EXPECT_EQ(complaint(config), "");
  ModelConfig encoder = config, decoder = config, states = config;
  encoder.encoder_layers = 0, decoder.decoder_layers = 0, states.rnn.dim = 0;
  EXPECT_THAT(complaint(encoder), HasSubstr("--enc-depth 0 leaves --type s2s without an encoder, expected at least 1"));
  EXPECT_THAT(complaint(decoder), HasSubstr("--dec-depth: 0 is out of range, expected from 1"));
  EXPECT_THAT(complaint(states), HasSubstr("--dim-rnn: 0 is out of range, expected from 2"));
}

TEST_F(ModelFileOnDisk, IsRefusedWhereItsAttentionHasNoWindowOrTooManyHeads) {
  ModelConfig config = toy_config();
  config.type = ModelType::s2s, config.rnn.dim = 16, config.heads = 2;
  ASSERT_EQ(complaint(config), "");
  ModelConfig hard = config, predictive = config;
  hard.attention.choice = AttentionKind::hard;
  EXPECT_THAT(
      complaint(hard),
      HasSubstr("--attention-choice hard attends to one source token, so --transformer-heads must be 1, found 2"));
  predictive.attention.local_center = LocalCenter::predictive;
  EXPECT_THAT(complaint(predictive),
              HasSubstr("--attention-local-center predictive is the centre of a window, but --attention-local is 0"));
}

TEST_F(ModelFileOnDisk, ReadsTheTrainedLengthsIfTheFileHasThem) {
  Arena arena;
  const auto weights = weights_of(toy_model(arena, 1)->parameters());
  const Vocabularies vocabularies{toy_vocabulary(), toy_vocabulary()};
  save_model(at("model"), toy_config(), vocabularies, weights, {41, 57});
  const ModelFile file(at("model"));
  EXPECT_EQ(file.trained().source, 41);
  EXPECT_EQ(file.trained().target, 57);
  const auto with = [&](Metadata metadata) {
    const auto tensors = file.tensors().tensors();
    write_safetensors(at("changed"), {tensors.begin(), tensors.end()}, metadata);
    return ModelFile(at("changed")).trained().source;
  };
  Metadata metadata = file.tensors().metadata();
  metadata.erase("checksum");
  metadata.erase("longest_source");
  EXPECT_EQ(with(metadata), 0);
  metadata["longest_source"] = "many";
  EXPECT_THROW(with(metadata), Error);
}

TEST_F(ModelFileOnDisk, IsRefusedWithAConfigurationOfDeepNesting) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  write_safetensors(at("deep"), {}, {{"format", "dragoman"}, {"version", "1"}, {"config", "{\"dim\":" + deep + "}"}});
  EXPECT_THROW(ModelFile(at("deep")), Error);
}

TEST_F(ModelFileOnDisk, TakesNoMemoryForOriginalsOfPackedWeights) {
  ModelConfig config = toy_config();
  config.dim = 64, config.feed_forward = 256;
  save_toy_model(at("wide"), 1, config);
  const auto bytes = [&](DType packed) {
    Arena arena;
    const LoadedModel loaded = load_model(at("wide"), backend("cpu"), arena, packed);
    return arena.in_use();
  };
  int64_t products = 0, others = 0;
  Arena arena;
  const auto model = make_model(config, backend("cpu"), arena, DType::f32, false);
  const Parameters& parameters = model->parameters();
  for (size_t i = 0; i < parameters.buffers().size(); ++i)
    (parameters.use_of(i) == Parameters::Use::product ? products : others) +=
        parameters.buffers()[i].value().elements();
  EXPECT_LT(bytes(DType::f32), 1.1 * 4 * double(products + 2 * others));  // a tied embedding is there twice
  EXPECT_LT(bytes(DType::bf16), 1.1 * (2 * double(products) + 6 * double(others)));
}

TEST_F(ModelFileOnDisk, IsRefusedWithWeightsThatAreNoFloatingPointNumbers) {
  ASSERT_EQ(complaint(toy_config()), "");
  const SafetensorsFile sound(at("model"));
  const std::string name = "encoder.0.self_attention_norm.weight";
  const std::vector<int64_t> numbers(size_t(sound.get(name).shape[0]), 1);
  std::vector<TensorEntry> tensors(sound.tensors().begin(), sound.tensors().end());
  const auto changed = std::ranges::find(tensors, name, &TensorEntry::name);
  *changed = {name, DType::i64, changed->shape, std::as_bytes(std::span(numbers))};
  write_safetensors(at("whole numbers"), tensors, sound.metadata());
  EXPECT_THAT([&] { ModelFile(at("whole numbers")); },
              testing::ThrowsMessage<Error>(
                  HasSubstr(at("whole numbers") + ": tensor " + name + " is of type I64, expected a weight of F64")));
}

TEST_F(ModelFileOnDisk, IsRefusedWithTwoVocabulariesWhereOnlyOneCanBe) {
  ModelConfig config = toy_config();
  config.embeddings.tied_all = true, config.target_vocabulary += 1;
  EXPECT_THAT(complaint(config), HasSubstr("tied source and target embeddings need vocabularies of the same size"));
  config.embeddings.tied_all = false, config.type = ModelType::decoder_only;
  EXPECT_THAT(complaint(config), HasSubstr("a decoder-only model reads both sides with one vocabulary"));
}

TEST_F(ModelFileOnDisk, IsRefusedWithWeightsThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    Arena arena;
    const auto model = toy_model(arena, 1);
    const auto weights = weights_of(model->parameters());
    const NamedTensor& last = weights.back();
    last.value.as<float>()[last.value.elements() - 1] = bad;
    save_model(at("model"), toy_config(), {toy_vocabulary(), toy_vocabulary()}, weights);
    const ModelFile file(at("model"));
    for (const auto& load :
         std::vector<std::function<void()>>{[&] { load_model(file, backend("cpu"), arena); },
                                            [&] { load_model(file, backend("cpu"), arena, DType::i8); },
                                            [&] { file.load_weights(model->parameters()); }})
      try {
        load();
        FAIL() << "loaded with " << bad;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(at("model") + ": " + last.name + " holds "));
        EXPECT_THAT(error.what(), HasSubstr("expected finite numbers"));
      }
  }
}

}  // namespace
}  // namespace dragoman
