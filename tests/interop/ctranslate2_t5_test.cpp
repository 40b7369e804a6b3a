#include <gmock/gmock.h>

#include <cstring>

#include "interop/ctranslate2.h"
#include "interop/model_parts.h"
#include "tests/interop/ctranslate2_folder.h"

namespace dragoman {
namespace {

using namespace ctranslate2_folders;

using testing::ElementsAre;
using testing::HasSubstr;

class CTranslate2T5 : public testing::TestWithParam<const char*> {};

TEST_P(CTranslate2T5, GivesTheProbabilitiesAndTranslationsOfTheProgram) {
  const ModelFile file = open_model(golden(GetParam()));
  EXPECT_LT(score_difference(file, golden_pairs(file, GetParam())), 1e-5);
  expect_searches(file, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Folders, CTranslate2T5, testing::Values("ct2_t5", "ct2_madlad"));

TEST(CTranslate2Biases, GiveOthersIfAFormulaIsAnother) {
  for (const char* folder : {"ct2_t5", "ct2_madlad"}) {
    const ConvertedModel model = *read_ctranslate2(golden(folder), {});
    const auto pairs = golden_pairs(open_model(golden(folder)), folder);
    const auto changed = [&](void (*change)(ModelConfig&)) {
      ModelConfig config = model.config;
      change(config);
      return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), pairs);
    };
    EXPECT_GT(changed([](ModelConfig& c) { c.relative_max_distance = 5; }), 1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.attention.score = AttentionScore::scaled_dot; }), 1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::swish; }), 1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 0; }), 1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.norm_epsilon = 1e-2; }), 1e-4);
    EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  }
}

// The two halves of a gated layer have the same shape.
TEST(CTranslate2Biases, AreOfLayersWhoseFirstHalfIsActivated) {
  ConvertedModel model = *read_ctranslate2(golden("ct2_madlad"), {});
  const auto pairs = golden_pairs(open_model(golden("ct2_madlad")), "ct2_madlad");
  for (TensorEntry& weight : model.weights)
    for (const auto& [from, to] : {std::pair(".gate.", ".up."), {".up.", ".gate."}})
      if (const size_t at = weight.name.find(from); at != weight.name.npos) {
        weight.name.replace(at, std::strlen(from), to);
        break;
      }
  const ModelFile swapped = ModelFile::in_memory("m", model.config, model.vocabularies, model.weights);
  EXPECT_GT(score_difference(swapped, pairs), 1e-3);
}

// The tokenizer of transformers adds </s> to a source, which the configuration does not mention.
TEST(CTranslate2Biases, AreOfModelsWhoseSourcesEndAndWhoseDecodersBeginAsInT5) {
  const ModelConfig t5 = open_model(golden("ct2_t5")).config(), madlad = open_model(golden("ct2_madlad")).config();
  EXPECT_EQ(t5.decoder_start, DecoderStart::pad);
  EXPECT_EQ(t5.special, (SpecialIds{.unk = 2, .bos = -1, .eos = 1, .pad = 0}));
  EXPECT_EQ(t5.key_size, 3);
  EXPECT_THAT(source_frame(t5).after, ElementsAre(1));
  EXPECT_EQ(madlad.first_token(), 0);
  EXPECT_EQ(madlad.special, (SpecialIds{.unk = 0, .bos = 0, .eos = 2, .pad = 1}));
  EXPECT_THAT(source_frame(madlad).after, ElementsAre(2));
}

// Among the pieces of T5's text, some look as the languages of other models.
TEST(CTranslate2Biases, AreOfModelsThatNameLanguagesInTheSource) {
  Copy copy("ct2_t5");
  copy.replace("shared_vocabulary.json", "\"c\"", "\"en_US\"");
  copy.replace("shared_vocabulary.json", "\"d\"", "\"de_DE\"");
  EXPECT_EQ(open_model(copy.folder / "").config().generation.target_language, TargetLanguage::none);
}

TEST(CTranslate2Biases, AreSplitByTheModelOfT5) {
  Copy copy("ct2_t5");
  copy.folder.make("spiece.model", read_file(source_dir() + "/tests/vocab/golden/bpe.spm"));
  EXPECT_NE(open_model(copy.folder / "").vocabularies().source.encode("ab"),
            open_model(golden("ct2_t5")).vocabularies().source.encode("ab"));
  EXPECT_THAT(parts_of_models({copy.folder / ""}), testing::Contains(testing::EndsWith("spiece.model")));
}

/// A variable without dimensions.
std::string float_variable(const std::string& name, float value) {
  return variable_name(name) + std::string("\0\0\4\0\0\0", 6) + number(value);
}

std::string without_alias(std::string bytes, const std::string& name, const std::string& instead) {
  const size_t at = bytes.find(variable_name(name));
  EXPECT_NE(at, bytes.npos) << name;
  return at == bytes.npos ? bytes : bytes.replace(at, variable_name(name).size(), variable_name(instead));
}

TEST(CTranslate2Biases, AreRefusedByNameWhereDragomanHasNoEqual) {
  const std::string bytes = read_file(golden("ct2_t5/model.bin")), self = "decoder/layer_1/self_attention";
  Copy copy("ct2_t5");
  const auto complaint_of = [&](const std::string& changed) {
    copy.folder.make("model.bin", changed);
    return complaint(copy.folder / "");
  };
  const std::string table = self + "/relative_attention_bias";
  std::string own = without_alias(bytes, table, "decoder/layer_1/x");  // layer 1 has a table of its own, as in UMT5
  own = with_variable(own, variable_name(table) + '\2' + number(uint32_t(8)) + number(uint32_t(2)) + '\0' +
                               number(uint32_t(64)) + std::string(64, '\1'));
  EXPECT_THAT(complaint_of(own), HasSubstr(self + " has relative positions of its own"));
  const std::string first = "encoder/layer_0/self_attention/relative_attention_bias";
  const std::string scales = variable_name(first + "_scale") + '\1' + number(uint32_t(8)) + '\0' + number(uint32_t(32));
  std::string rounded = without_alias(bytes, first, "encoder/x");
  rounded = with_variable(rounded, variable_name(first) + '\2' + number(uint32_t(8)) + number(uint32_t(2)) + '\1' +
                                       number(uint32_t(16)) + std::string(16, '\1'));
  EXPECT_THAT(complaint_of(with_variable(rounded, scales + std::string(32, '\1'))), HasSubstr(first + " is in 8 bits"));
  const size_t scale =
      bytes.find(variable_name(self + "/queries_scale")) + variable_name(self + "/queries_scale").size() + 6;
  EXPECT_THAT(complaint_of(std::string(bytes).replace(scale, 4, number(0.7f))),
              HasSubstr(self + "/queries_scale is 0.7"));
  EXPECT_THAT(complaint_of(std::string(bytes).replace(scale, 4, number(float(1 / std::sqrt(3))))),
              HasSubstr(self + " differ in queries_scale"));
  EXPECT_THAT(complaint_of(with_variable(bytes, float_variable(self + "/rotary_dim", 0))),
              HasSubstr(self + "/rotary_dim is set"));
  EXPECT_THAT(complaint_of(with_variable(bytes, float_variable(self + "/num_heads_kv", 1))),
              HasSubstr(self + "/num_heads_kv is 1: heads share keys and values"));
  EXPECT_EQ(complaint_of(with_variable(bytes, float_variable(self + "/num_heads_kv", 2))), "");
}

}  // namespace
}  // namespace dragoman
