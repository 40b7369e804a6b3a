#include "io/model_file.h"

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
  constexpr int many = 1'000'000'000;
  for (const auto& [name, member] : {std::pair{"encoder_layers", &ModelConfig::encoder_layers},
                                     {"decoder_layers", &ModelConfig::decoder_layers},
                                     {"dim", &ModelConfig::dim},
                                     {"feed_forward", &ModelConfig::feed_forward},
                                     {"heads", &ModelConfig::heads},
                                     {"heads * key_size", &ModelConfig::key_size},
                                     {"heads * value_size", &ModelConfig::value_size}}) {
    ModelConfig config = toy_config();
    config.*member = many;
    EXPECT_THAT(complaint(config), HasSubstr(fmt::format("'{}' is ", name)));
  }
  ModelConfig learned = toy_config();
  learned.positions = Positions::learned;
  learned.max_positions = many;
  EXPECT_THAT(complaint(learned),
              HasSubstr("'max_positions' is 1000000000 in the model's configuration, expected 1 to"));
}

TEST_F(ModelFileOnDisk, IsRefusedWithoutHeadsOrColumns) {
  for (const auto member : {&ModelConfig::heads, &ModelConfig::dim, &ModelConfig::feed_forward}) {
    ModelConfig config = toy_config();
    config.*member = 0;
    EXPECT_THAT(complaint(config), HasSubstr("is 0 in the model's configuration, expected 1 to"));
  }
}

TEST_F(ModelFileOnDisk, IsRefusedWithExpertsThatCannotBe) {
  ModelConfig config = toy_config();
  config.experts.count = 3, config.experts.frequency = 1;
  EXPECT_EQ(complaint(config), "");
  config.experts.top_k = 4;
  EXPECT_THAT(complaint(config), HasSubstr("'moe_top_k' is 4 in the model's configuration, expected 1 to 3"));
  config.experts.top_k = 2, config.experts.frequency = 0;
  EXPECT_THAT(complaint(config), HasSubstr("'moe_frequency' is 0"));
}

TEST_F(ModelFileOnDisk, IsRefusedWithBlocksOrStridesOfNothing) {
  for (const auto& [name, member] : {std::pair{"attention_block", &ModelConfig::attention_block},
                                     {"attention_stride", &ModelConfig::attention_stride}}) {
    ModelConfig config = toy_config();
    config.type = ModelType::decoder_only, config.attention.memory = AttentionMemory::local_compressed;
    EXPECT_EQ(complaint(config), "");
    config.*member = 0;
    EXPECT_THAT(complaint(config), HasSubstr(fmt::format("'{}' is 0 in the model's configuration", name)));
  }
}

TEST_F(ModelFileOnDisk, IsRefusedAsARecurrentModelWithoutLayersOrStates) {
  for (const auto& [name, member] : {std::pair{"encoder_layers", &ModelConfig::encoder_layers},
                                     {"decoder_layers", &ModelConfig::decoder_layers},
                                     {"rnn_dim", &ModelConfig::rnn_dim}}) {
    ModelConfig config = toy_config();
    config.type = ModelType::s2s;
    config.rnn.dim = 16;
    EXPECT_EQ(complaint(config), "");
    config.*member = 0;
    EXPECT_THAT(complaint(config), HasSubstr(fmt::format("'{}' is 0 in the model's configuration, expected 1", name)));
  }
}

TEST_F(ModelFileOnDisk, IsRefusedWhereItsAttentionHasNoWindowOrTooManyHeads) {
  ModelConfig config = toy_config();
  config.type = ModelType::s2s, config.rnn.dim = 16, config.heads = 2;
  ASSERT_EQ(complaint(config), "");
  ModelConfig hard = config, predictive = config;
  hard.attention.choice = AttentionKind::hard;
  EXPECT_THAT(complaint(hard), HasSubstr("'heads' is 2 in the model's configuration, expected 1 to 1"));
  predictive.attention.local_center = LocalCenter::predictive;
  EXPECT_THAT(complaint(predictive), HasSubstr("'attention_local' is 0 in the model's configuration, expected 1 to"));
}

TEST_F(ModelFileOnDisk, KnowsWhatItWasTrainedOnIfTheFileSaysSo) {
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
