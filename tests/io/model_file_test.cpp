#include "io/model_file.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace dragoman
