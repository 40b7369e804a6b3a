#include "interop/opennmt.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "interop/open_model.h"
#include "model/frame.h"
#include "tests/interop/golden.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

// The checkpoint with another value of an option, as a pickle spells it.
std::string with_value(std::string bytes, const std::string& option, const std::string& from, const std::string& to) {
  const size_t name = bytes.find(option), at = bytes.find(from, name + option.size());
  EXPECT_LT(at, name + option.size() + 8) << option;
  return at == bytes.npos ? bytes : bytes.replace(at, from.size(), to);
}

double changed(const std::string& name, void (*change)(ModelConfig&)) {
  const ConvertedModel model = *read_opennmt(golden(name + "/model_step_100.pt"), {});
  ModelConfig config = model.config;
  change(config);
  return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs(name));
}

TEST_F(OpenNmt, GivesTheProbabilitiesThatOpenNmtGives) {
  for (const std::string name : {"opennmt", "opennmt_concat", "opennmt_silu", "opennmt_gated", "opennmt_relative",
                                 "opennmt_rotary", "opennmt_halves", "opennmt_alibi"})
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

TEST_F(OpenNmt, GivesOthersIfPositionsAreOthers) {
  for (const std::string name : {"opennmt_relative", "opennmt_rotary", "opennmt_halves", "opennmt_alibi"}) {
    const auto other = [&](Positions positions) {
      ConvertedModel model = *read_opennmt(golden(name + "/model_step_100.pt"), {});
      if (model.config.positions == positions) return 1.0;
      model.config.positions = positions, model.config.relative_values = false;
      std::erase_if(model.weights, [](const TensorEntry& w) { return w.name.find(".distance") != w.name.npos; });
      return score_difference(ModelFile::in_memory("m", model.config, model.vocabularies, model.weights),
                              golden_pairs(name));
    };
    for (const Positions positions : {Positions::rotary, Positions::alibi, Positions::none})
      EXPECT_GT(other(positions), 1e-3) << name;
  }
  // The halves of one are rotated as the pairs of the other.
  const std::string bytes = read_file(golden("opennmt_rotary/model_step_100.pt"));
  folder.make("m.pt", with_value(bytes, "rotary_interleave", "\x88", "\x89"));
  EXPECT_GT(score_difference(open_model(folder / "m.pt"), golden_pairs("opennmt_rotary")), 1e-3);
}

TEST_F(OpenNmt, RefusesByNamePositionsThatDragomanComputesInAnotherWay) {
  const auto said = [&](const std::string& name, const std::string& option, const std::string& from,
                        const std::string& to) -> std::string {
    const std::string bytes = read_file(golden(name + "/model_step_100.pt"));
    try {
      open_model(folder.make("m.pt", with_value(bytes, option, from, to)));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(said("opennmt_rotary", "rotary_theta", "M\x10'", "M\x11'"),
              HasSubstr("opt: rotary_theta is 10001, expected 10000"));
  EXPECT_THAT(said("opennmt_rotary", "rotary_dim", std::string("K\0", 2), "K\2"),
              HasSubstr("opt: rotary_dim is 2, expected 0 or 4"));
  EXPECT_THAT(said("opennmt_rotary", std::string("\5\0\0\0heads", 9), "K\2", std::string("K\0", 2)),
              HasSubstr("opt: heads is 0, expected at least 1"));
  EXPECT_THAT(said("opennmt_rotary", "position_encoding", "\x89", "\x88"),
              HasSubstr("opt: max_relative_positions is -1 and position_encoding is set"));
  EXPECT_THAT(said("opennmt_alibi", std::string("\5\0\0\0heads", 9), "K\2", "K\3"),
              HasSubstr("opt: its positions are alibi with 3 heads"));
  EXPECT_THAT(said("opennmt_relative", "relative_positions_buckets", std::string("K\0", 2), "K\4"),
              HasSubstr("opt: relative_positions_buckets is set, which dragoman does not support"));
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

TEST_F(OpenNmt, NamesTheOptionThatTheShapesContradict) {
  std::string bytes = read_file(golden("opennmt/model_step_100.pt"));
  const auto said = [&]() -> std::string {
    try {
      open_model(folder.make("m.pt", bytes));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const std::string sound = bytes;
  bytes = with_value(sound, "transformer_ff", "K\x0c", "K\x0e");
  EXPECT_THAT(said(), HasSubstr("m.pt: encoder.transformer.0.feed_forward.w_1.weight is (12,8), expected 14 rows, as "
                                "opt: transformer_ff says"));
  bytes = sound;
  for (const char* option : {"enc_hid_size", "dec_hid_size", "src_word_vec_size", "tgt_word_vec_size"})
    bytes = with_value(bytes, option, "K\x08", "K\x10");
  EXPECT_THAT(said(), HasSubstr(",8), expected 16 columns, as opt: enc_hid_size says"));
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
