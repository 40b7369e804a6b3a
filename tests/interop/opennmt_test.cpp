#include "interop/opennmt.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "interop/open_model.h"
#include "model/frame.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string golden(const std::string& name) { return source_dir() + "/tests/interop/golden/" + name; }

std::vector<ReferenceScore> golden_pairs(const std::string& name) {
  return reference_scores(read_file(golden(name + "/pairs.ids")));
}

class OpenNmt : public testing::Test {
 protected:
  // The golden checkpoint, with some bytes replaced by as many others.
  std::string complaint(const std::string& old, const std::string& by) {
    std::string bytes = read_file(golden("opennmt/model_step_100.pt"));
    size_t count = 0;
    for (size_t at = 0; (at = bytes.find(old, at)) != bytes.npos; ++count) bytes.replace(at, old.size(), by);
    EXPECT_GT(count, 0) << old;
    EXPECT_EQ(old.size(), by.size());
    try {
      open_model(folder.make("m.pt", bytes));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  TemporaryFolder folder;
};

double changed(const std::string& name, void (*change)(ModelConfig&)) {
  const ConvertedModel model = *read_opennmt(golden(name + "/model_step_100.pt"), {});
  ModelConfig config = model.config;
  change(config);
  return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs(name));
}

TEST_F(OpenNmt, GivesTheProbabilitiesThatOpenNmtGives) {
  for (const std::string name : {"opennmt", "opennmt_concat", "opennmt_silu", "opennmt_gated"})
    EXPECT_LT(score_difference(open_model(golden(name + "/model_step_100.pt")), golden_pairs(name)), 1e-5) << name;
}

TEST_F(OpenNmt, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed("opennmt", [](ModelConfig& c) { c.positions = Positions::sinusoidal; }), 1e-3);
  EXPECT_GT(changed("opennmt", [](ModelConfig& c) { c.first_position = 1; }), 1e-3);
  EXPECT_GT(changed("opennmt", [](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  EXPECT_GT(changed("opennmt", [](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  EXPECT_GT(changed("opennmt", [](ModelConfig& c) { c.activation = Activation::relu; }), 1e-3);
  EXPECT_GT(changed("opennmt_concat", [](ModelConfig& c) { c.position_spacing = PositionSpacing::paper; }), 1e-3);
  EXPECT_GT(changed("opennmt_concat", [](ModelConfig& c) { c.norm_epsilon = 1e-6; }), 1e-3);
  EXPECT_GT(changed("opennmt_silu", [](ModelConfig& c) { c.activation = Activation::gelu; }), 1e-3);
  EXPECT_GT(changed("opennmt_gated", [](ModelConfig& c) { c.activation = Activation::swish; }), 1e-3);
}

TEST_F(OpenNmt, HasNoEndBehindASource) {
  const ModelFile file = open_model(golden("opennmt/model_step_100.pt"));
  EXPECT_THAT(source_frame(file.config()).around({4, 5}), ElementsAre(4, 5));
  EXPECT_THAT(file.vocabularies().source.encode("a dog cat"), ElementsAre(4, 6, 0));
  EXPECT_EQ(file.vocabularies().target.piece(5), "Hund");
}

TEST_F(OpenNmt, SplitsTextByWhatItIsGiven) {
  const std::string merges = folder.make("codes", "#version: 0.2\nd o\ndo g</w>\n");
  const ModelFile file = open_model(golden("opennmt/model_step_100.pt"), {.vocabs = {merges, merges}});
  EXPECT_THAT(file.vocabularies().source.encode("dog a"), ElementsAre(6, 4));
}

TEST_F(OpenNmt, NamesTheMergesThatAreBroken) {
  const std::string merges = folder.make("codes", "#version: 0.2\n"), checkpoint = golden("opennmt/model_step_100.pt");
  EXPECT_THAT(
      [&] {
        open_model(checkpoint, {.vocabs = {merges, merges}});
      },
      testing::ThrowsMessage<Error>(merges + " contains no merges of byte-pair encoding"));
}

TEST_F(OpenNmt, RefusesByNameWhatIsAnotherModel) {
  EXPECT_THAT(complaint("transformer", "transf_gram"), HasSubstr("m.pt: opt: encoder_type is transf_gram"));
  EXPECT_THAT(complaint("SinusoidalInterleaved", "SinusoidalIntertwined"),
              HasSubstr("position_encoding_type is SinusoidalIntertwined"));
  EXPECT_THAT(complaint("gelu", "tanh"), HasSubstr("pos_ffn_activation_fn is tanh, which dragoman does not support"));
  EXPECT_THAT(complaint("gelu", "silu"), HasSubstr("has no tensor encoder.transformer.0.feed_forward.w_3.weight"));
  EXPECT_THAT(complaint("standard", "batched_"), HasSubstr("layer_norm is batched_, expected standard or rms"));
  EXPECT_THAT(complaint("</s>", "<.s>"), HasSubstr("a token list has no </s>"));
  EXPECT_THAT(complaint("context_attn.linear_keys", "context_attn.linear_rows"),
              HasSubstr("has no tensor decoder.transformer_layers.0.context_attn.linear_keys.weight"));
}

TEST_F(OpenNmt, RefusesByNameWhatDragomanLacks) {
  const std::string bytes = read_file(golden("opennmt/model_step_100.pt"));
  for (const std::string option : {"copy_attn", "multiquery", "parallel_residual"}) {
    // The option, its place in the memo (q or r), and False, which becomes True.
    const size_t at = std::min(bytes.find(option + "q"), bytes.find(option + "r"));
    ASSERT_NE(at, bytes.npos) << option;
    std::string on = bytes;
    on.at(bytes.find_first_of("\x89\x88", at)) = '\x88';
    folder.make("m.pt", on);
    try {
      open_model(folder / "m.pt");
      FAIL() << option;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("opt: " + option + " is set, which dragoman does not support"));
    }
  }
}

TEST_F(OpenNmt, IsRefusedIfAPartIsMissing) {
  const std::string whole = read_file(golden("opennmt/model_step_100.pt"));
  for (size_t size = 0; size < whole.size(); size += 61)
    EXPECT_THROW(open_model(folder.make("m.pt", whole.substr(0, size))), Error) << size;
}

TEST_F(OpenNmt, IsAFileOfTorchWithOptions) {
  EXPECT_FALSE(read_opennmt(folder / "m.pt", {}));
  EXPECT_FALSE(read_opennmt(folder.make("m.pt", "text"), {}));
  EXPECT_FALSE(read_opennmt(golden("fairseq/checkpoint_best.pt"), {}));
}

}  // namespace
}  // namespace dragoman
