#include "interop/sockeye.h"

#include <gmock/gmock.h>

#include "interop/model_parts.h"
#include "tests/interop/golden_folder.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class Sockeye : public GoldenFolder {
 protected:
  Sockeye() : GoldenFolder("sockeye", "config") {}
};

class SockeyeWithLearnedPositions : public GoldenFolder {
 protected:
  SockeyeWithLearnedPositions() : GoldenFolder("sockeye_learned", "config") {}
};

class SockeyeWithSsru : public GoldenFolder {
 protected:
  SockeyeWithSsru() : GoldenFolder("sockeye_ssru", "config") {}
};

class SockeyeWithGatedNetworks : public GoldenFolder {
 protected:
  SockeyeWithGatedNetworks() : GoldenFolder("sockeye_glu", "config") {}
};

TEST_F(Sockeye, GivesTheProbabilitiesAndTranslationsThatSockeyeGives) {
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  EXPECT_LT(score_difference(open_model(path() + "/params.best"), pairs()), 1e-5);
  expect_greedy_translations(0);
}

TEST_F(SockeyeWithLearnedPositions, GivesTheProbabilitiesAndTranslationsThatSockeyeGives) {
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  expect_greedy_translations(0);
}

TEST_F(SockeyeWithSsru, GivesTheProbabilitiesAndTranslationsThatSockeyeGives) {
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  expect_greedy_translations(0);
}

TEST_F(SockeyeWithGatedNetworks, GivesTheProbabilitiesAndTranslationsThatSockeyeGives) {
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  expect_greedy_translations(0);
}

TEST_F(Sockeye, NamesTheListThatHasOtherPiecesThanTheModel) {
  replace("vocab.trg.0.json", "{", "{\"another\": 10, ");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("its target embedding has 10 rows, but the vocabulary has 11 pieces ("),
                                 HasSubstr("vocab.trg.0.json")));
}

TEST_F(Sockeye, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.positions = Positions::interleaved; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.position_spacing = PositionSpacing::tensor2tensor; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::relu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_heads = 0; }), 1e-3);
}

TEST_F(SockeyeWithLearnedPositions, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::gelu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.norm_epsilon = 1e-2; }), 1e-3);
}

TEST_F(SockeyeWithGatedNetworks, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::relu; }), 1e-3);
}

TEST_F(SockeyeWithGatedNetworks, IsRefusedIfOnlyOneSideHasThem) {
  std::string config = sound("config");
  const std::string gated = "use_glu: true";
  config.replace(config.find(gated), gated.size(), "use_glu: false");
  folder.make("m/config", config);
  EXPECT_THAT(complaint(), HasSubstr("config_decoder: use_glu is \"false\", expected that of the encoder, \"true\""));
}

TEST_F(Sockeye, NumbersTokensAsItsListsDo) {
  const ModelFile file = open_model(path());
  const auto& [source, target] = file.vocabularies();
  EXPECT_THAT(source.encode("a dog sleeps"), ElementsAre(4, 6, 1));
  EXPECT_EQ(target.piece(5), "Hund");
  EXPECT_EQ(target.pad(), 0);
  EXPECT_EQ(target.bos(), 2);
  EXPECT_EQ(target.eos(), 3);
  EXPECT_TRUE(file.config().generation.source_eos);
}

TEST_F(Sockeye, SplitsTextByWhatItIsGiven) {
  const std::string merges = folder.make("codes", "#version: 0.2\nd o\ndo g</w>\n");
  EXPECT_THAT(open_model(path(), {.vocabs = {merges, merges}}).vocabularies().source.encode("dog a"),
              ElementsAre(6, 4));
  folder.make("m/bpecodes", "#version: 0.2\nd o\ndo g</w>\n");
  EXPECT_THAT(open_model(path()).vocabularies().source.encode("dog a"), ElementsAre(6, 4));
}

TEST_F(Sockeye, RefusesByNameWhatDragomanLacks) {
  for (const auto& [old, by, said] :
       {std::tuple("use_lhuc: false", "use_lhuc: true", "config_encoder: use_lhuc is true, which dragoman does not"),
        {"use_glu: false", "use_glu: true", "has no tensor encoder.layers.0.ff.linear.weight"},
        {"block_prepended_cross_attention: false", "block_prepended_cross_attention: true",
         "block_prepended_cross_attention is true, which dragoman does not support"},
        {"num_source_factors: 1", "num_source_factors: 2", "config_data: num_source_factors is 2, which dragoman does"},
        {"num_target_factors: 1", "num_target_factors: 2", "config_data: num_target_factors is 2, which dragoman does"},
        {"neural_vocab_selection: null", "neural_vocab_selection: eos", "config: neural_vocab_selection is eos, which"},
        {"dtype: float32", "dtype: int8", "config: dtype is int8, expected float32, float16 or bfloat16"},
        {"act_type: gelu", "act_type: tanh", "config_encoder: act_type is tanh, which dragoman does not support"},
        {"decoder_type: transformer", "decoder_type: rnn", "config_decoder: decoder_type is rnn, expected transformer"},
        {"type: fixed", "type: none", "config_encoder: positional_embedding_type is none, expected fixed or learned"},
        {"postprocess_sequence: dr", "postprocess_sequence: rn",
         "config_encoder: preprocess_sequence is \"n\" and postprocess_sequence is \"rn\", which dragoman does not"},
        {"model_size: 8", "model_sizes: 8", "config_encoder has no model_size"},
        {"num_embed: 8", "num_embed: 4", "config_embed_source: num_embed is 4, expected model_size of the encoder, 8"},
        {"num_layers: 2", "num_layers: 3", "has no tensor encoder.layers.2."},
        {"num_layers: 2", "num_layers: 1", "tensor encoder.layers.1.ff.ff1.bias is not part of"}})
    EXPECT_THAT(complaint_if(old, by), HasSubstr(said)) << by;
}

TEST_F(Sockeye, NamesTheFileThatIsBrokenOrMissing) {
  replace("vocab.trg.0.json", "<unk>", "<UNK>");
  EXPECT_THAT(complaint(), HasSubstr("vocab.trg.0.json: <unk> has not id 1"));
  folder.make("m/vocab.trg.0.json", sound("vocab.trg.0.json"));
  folder.make("m/params.best", "MXNet");
  EXPECT_THAT(complaint(), HasSubstr("m/params.best is not a file of PyTorch"));
  std::filesystem::remove(path() + "/params.best");
  EXPECT_THAT(complaint(), HasSubstr("m/params.best: there is no such file; it holds the weights of the model"));
  std::filesystem::remove(path() + "/config");
  EXPECT_FALSE(read_sockeye(path(), {}));
}

TEST_F(Sockeye, IsRefusedIfAPartIsMissing) {
  const std::string whole = sound("params.best");
  for (size_t size = 0; size < whole.size(); size += 211) {
    folder.make("m/params.best", whole.substr(0, size));
    EXPECT_THROW(open_model(path()), Error) << size;
  }
}

TEST_F(Sockeye, KeepsItsPartsFromBeingOverwritten) {
  const std::vector<std::string> parts = parts_of_models({path()});
  for (const char* part : {"m/params.best", "m/config", "m/vocab.src.0.json", "m/vocab.trg.0.json"})
    EXPECT_THAT(parts, Contains(EndsWith(part)));
}

TEST(SockeyeFiles, AreAFolderOrParametersInOne) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_sockeye(folder / "", {}));
  EXPECT_FALSE(read_sockeye(folder.make("params.best", "text"), {}));
  EXPECT_FALSE(read_sockeye(source_dir() + "/tests/interop/golden/opennmt/model_step_100.pt", {}));
}

}  // namespace
}  // namespace dragoman
