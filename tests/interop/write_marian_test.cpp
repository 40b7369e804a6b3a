#include "interop/write_marian.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "interop/open_model.h"
#include "tests/interop/golden.h"
#include "tests/interop/written_model.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(WriteMarian, NeedsVocabulariesOfSentencePiece) {
  TemporaryFolder folder;
  const std::vector<std::string> words(2, golden("words.yml"));
  EXPECT_THAT(complaint(write_marian, open_model(golden("tied.npz"), {.vocabs = words}), folder / "marian"),
              HasSubstr("has no SentencePiece model"));
  EXPECT_FALSE(fs::exists(folder / "marian"));
}

ModelConfig marian_config_of_a_toy() {
  ModelConfig config = toy_config();
  config.decoder_start = DecoderStart::zero, config.position_spacing = PositionSpacing::tensor2tensor;
  config.norm_epsilon = 1e-6, config.embeddings.output_bias = true;
  return config;
}

TEST(WriteMarian, WritesModelsOfItsShape) {
  for (const NormPlacement norm : {NormPlacement::post, NormPlacement::pre}) {
    for (const bool tied : {true, false}) {
      TemporaryFolder folder;
      ModelConfig config = marian_config_of_a_toy();
      config.norm = norm, config.embeddings.tied_all = tied, config.activation = Activation::gelu;
      config.decoder_layers = 2;
      if (tied) config.tied_decoder_layers = {1, 1};
      const ModelFile model(save_toy_model(folder / "ours", 1, config));
      write_marian(model, folder / "marian");
      const ModelFile again = open_model(folder / "marian/decoder.yml");
      expect_same_weights(model, again);
      EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
    }
  }
}

// Marian's numbers only say which layers are the same: in 1 1 2, the third has weights of its own, decoder_l2_….
TEST(WriteMarian, IsReadWithOtherNumbersOfTiedLayers) {
  const TemporaryFolder folder;
  ModelConfig config = marian_config_of_a_toy();
  config.decoder_layers = 3, config.tied_decoder_layers = {1, 1, 3};
  const ModelFile model(save_toy_model(folder / "ours", 1, config));
  write_marian(model, folder / "marian");
  std::string bytes = read_file(folder / "marian/model.bin");
  for (const auto& [ours, marians] : {std::pair<std::string, std::string>("decoder_l3_", "decoder_l2_"),
                                      {"- 1\n  - 1\n  - 3", "- 1\n  - 1\n  - 2"}}) {
    ASSERT_NE(bytes.find(ours), bytes.npos) << ours;
    for (size_t at = 0; (at = bytes.find(ours, at)) != bytes.npos;) bytes.replace(at, ours.size(), marians);
  }
  folder.make("marian/model.bin", bytes);
  const ModelFile again = open_model(folder / "marian/decoder.yml");
  EXPECT_EQ(again.config().tied_decoder_layers, config.tied_decoder_layers);
  expect_same_weights(model, again);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

// Marian's vocabularies with byte fallback never generate the bytes below a blank, line breaks and tabs among them.
TEST(WriteMarian, LeavesOutTheBytesThatMarianLeavesOut) {
  const TemporaryFolder folder;
  ModelConfig config = marian_config_of_a_toy();
  write_marian(ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "marian");
  const ModelFile read = open_model(folder / "marian");
  const std::vector<int>& left_out = read.config().generation.suppressed;
  ASSERT_EQ(left_out.size(), 32);
  EXPECT_EQ(read.vocabularies().target.piece(left_out.front()), "<0x00>");
  EXPECT_EQ(read.vocabularies().target.piece(left_out.back()), "<0x1F>");
  EXPECT_EQ(complaint(write_marian, read, folder / "again"), "");
  config.generation.suppressed = {300};
  const ModelFile other(save_toy_model(folder / "other", 1, config));
  EXPECT_THAT(complaint(write_marian, other, folder / "none"), HasSubstr("its 'suppressed_ids' has 300, which Marian"));
}

TEST(WriteMarian, NamesWhatMarianComputesOtherwise) {
  TemporaryFolder folder;
  const ModelFile ours(save_toy_model(folder / "ours", 1));
  EXPECT_THAT(complaint(write_marian, ours, folder / "marian"),
              HasSubstr("its 'norm_epsilon' is 1e-05, which cannot be written for Marian (only 1e-06)"));
  EXPECT_THAT(complaint(write_marian, ours, folder / "marian"), HasSubstr("; its 'decoder_start' is "));
  ModelConfig config = marian_config_of_a_toy();
  config.activation = Activation::gelu_tanh;
  const ModelFile other(save_toy_model(folder / "other", 1, config));
  EXPECT_THAT(complaint(write_marian, other, folder / "marian"), HasSubstr("its activation is gelu-tanh"));
  EXPECT_FALSE(fs::exists(folder / "marian"));
}

}  // namespace
}  // namespace dragoman
