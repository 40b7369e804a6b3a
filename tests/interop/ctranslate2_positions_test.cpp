#include <gmock/gmock.h>

#include <algorithm>

#include "interop/ctranslate2.h"
#include "tests/interop/ctranslate2_folder.h"

namespace dragoman {
namespace {

using namespace ctranslate2_folders;

using testing::HasSubstr;

class CTranslate2Positions : public testing::TestWithParam<const char*> {};

TEST_P(CTranslate2Positions, GiveTheProbabilitiesAndTranslationsOfTheProgram) {
  const ModelFile file = open_model(golden(GetParam()));
  EXPECT_LT(score_difference(file, golden_pairs(file, GetParam())), 1e-5);
  expect_searches(file, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Folders, CTranslate2Positions, testing::Values("ct2_rotary", "ct2_relative"));

// The difference of the golden scores to those of a changed model.
double changed(const std::string& folder, const std::function<void(ConvertedModel&)>& change) {
  ConvertedModel model = *read_ctranslate2(golden(folder), {});
  const auto pairs = golden_pairs(open_model(golden(folder)), folder);
  change(model);
  return score_difference(ModelFile::in_memory("m", model.config, model.vocabularies, model.weights), pairs);
}

void remove_weights(ConvertedModel& model, const std::string& end) {
  std::erase_if(model.weights, [&](const TensorEntry& weight) { return weight.name.ends_with(end); });
}

// The value of a variable without dimensions, which has `size` bytes.
size_t place_of_number(const std::string& bytes, const std::string& name) {
  const size_t at = bytes.find(variable_name(name));
  EXPECT_NE(at, bytes.npos) << name;
  return at + variable_name(name).size() + 6;
}

TEST(CTranslate2RotaryPositions, GiveOthersIfPairsAreOthers) {
  EXPECT_GT(changed("ct2_rotary", [](ConvertedModel& m) { m.config.positions = Positions::alibi; }), 1e-3);
  const std::string bytes = read_file(golden("ct2_rotary/model.bin"));
  for (const std::string side : {"encoder", "decoder"}) {
    Copy copy("ct2_rotary");
    const auto pairs = golden_pairs(open_model(golden("ct2_rotary")), "ct2_rotary");
    std::string other = bytes;
    for (const std::string layer : {"0", "1"}) {
      const size_t at = place_of_number(bytes, side + "/layer_" + layer + "/self_attention/rotary_interleave");
      ASSERT_EQ(bytes.at(at), side == "encoder");
      other.at(at) = side == "decoder";
    }
    copy.folder.make("model.bin", other);
    EXPECT_GT(score_difference(open_model(copy.folder / ""), pairs), 1e-3) << side;
  }
}

TEST(CTranslate2VectorsOfDistances, GiveOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed("ct2_relative",
                    [](ConvertedModel& m) {
                      m.config.relative_values = false;
                      remove_weights(m, ".distance_value.weight");
                    }),
            1e-3);
  EXPECT_GT(changed("ct2_relative",
                    [](ConvertedModel& m) {  // vectors of one distance for all
                      for (TensorEntry& weight : m.weights)
                        if (weight.name.ends_with(".distance_value.weight"))
                          weight.make = [make = weight.make, columns = size_t(weight.shape[1])] {
                            const std::vector<std::byte> bytes = make();
                            std::vector<std::byte> same;
                            for (size_t i = 0; i < bytes.size(); i += sizeof(float))
                              for (size_t b = 0; b < sizeof(float); ++b)
                                same.push_back(bytes[i / (columns * sizeof(float)) * columns * sizeof(float) + b]);
                            return same;
                          };
                    }),
            1e-3);
  EXPECT_GT(changed("ct2_relative",
                    [](ConvertedModel& m) {
                      for (TensorEntry& weight : m.weights)  // distances of the other direction
                        if (weight.name.ends_with(".distance.weight"))
                          weight.make = [make = weight.make, rows = weight.shape[0]] {
                            std::vector<std::byte> bytes = make(), other;
                            const auto row = std::ptrdiff_t(bytes.size()) / rows;
                            for (std::ptrdiff_t i = rows - 1; i >= 0; --i)
                              other.insert(other.end(), bytes.begin() + i * row, bytes.begin() + (i + 1) * row);
                            return other;
                          };
                    }),
            1e-3);
}

TEST(CTranslate2VectorsOfDistances, AreForKeysAndForValuesIfTheFolderHasThem) {
  const ModelConfig both = open_model(golden("ct2_relative")).config();
  EXPECT_EQ(both.positions, Positions::relative);
  EXPECT_EQ(both.relative_positions, 2);
  EXPECT_TRUE(both.relative_values);
}

TEST(CTranslate2Positions, AreRefusedByNameWhereDragomanHasNoEqual) {
  const std::string bytes = read_file(golden("ct2_rotary/model.bin")), self = "decoder/layer_1/self_attention";
  Copy copy("ct2_rotary");
  const auto complaint_of = [&](const std::string& changed) {
    copy.folder.make("model.bin", changed);
    return complaint(copy.folder / "");
  };
  const auto with_number = [&](const char* name, const auto& value) {
    std::string changed = bytes;
    return complaint_of(changed.replace(place_of_number(bytes, self + "/" + name), sizeof(value), number(value)));
  };
  EXPECT_THAT(with_number("rotary_dim", int32_t(2)), HasSubstr(self + "/rotary_dim is 2, expected 0 or 4"));
  EXPECT_THAT(with_number("rotary_dim", int32_t(-1)),
              HasSubstr("encoder/layer_0/self_attention/rotary_dim is set, but " + self + " has other positions"));
  EXPECT_THAT(with_number("rotary_base", 500000.0f),
              HasSubstr(self + "/rotary_base is 500000, which dragoman does not support"));
  EXPECT_THAT(complaint_of(with_variable(bytes, flag(self + "/rotary_scaling_type", false))),
              HasSubstr(self + "/rotary_scaling_type is 0, which dragoman does not support"));
}

}  // namespace
}  // namespace dragoman
