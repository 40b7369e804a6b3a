#include <gmock/gmock.h>

#include "base/log.h"
#include "interop/export.h"
#include "interop/weight_mapping.h"
#include "tests/interop/huggingface_folder.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// Tables under all their names: `decoder` is that of the decoder.
class TablesOfM2M100 : public M2M100 {
 protected:
  void write_tables(float decoder_factor) {
    const SafetensorsFile golden_file(golden("m2m100/model.safetensors"));
    std::vector<TensorEntry> tensors(golden_file.tensors().begin(), golden_file.tensors().end());
    TensorEntry table = golden_file.get("model.shared.weight");
    for (const std::string name : {"model.encoder.embed_tokens.weight", "lm_head.weight"}) {
      table.name = name;
      tensors.push_back(table);
    }
    table.name = "model.decoder.embed_tokens.weight";
    tensors.push_back(scaled_vector(table, decoder_factor));
    write_safetensors(folder / "model.safetensors", tensors, {});
  }
};

// As transformers 5 saves a model with "tie_word_embeddings": false.
TEST_F(TablesOfM2M100, AreThoseOfEachSideIfUntied) {
  set("tie_word_embeddings", "false");
  write_tables(2);
  const ModelFile file = open_model(path(), english_to_french);
  EXPECT_FALSE(file.config().embeddings.ties_source());
  const TensorEntry &source = file.tensors().get("source_embedding.weight"),
                    &target = file.tensors().get("target_embedding.weight");
  EXPECT_EQ(floats_of(scaled_vector(source, 2)), floats_of(target));
  EXPECT_GT(score_difference(file, golden_pairs(), 1), 1e-3);
  write_tables(1);
  const ModelFile same = open_model(path(), english_to_french);
  EXPECT_TRUE(same.config().embeddings.ties_source());
  EXPECT_LT(score_difference(same, golden_pairs(), 1), 1e-5);
}

TEST_F(TablesOfM2M100, AreTheSameIfTied) {
  write_tables(1);
  EXPECT_LT(score_difference(open_model(path(), english_to_french), golden_pairs(), 1), 1e-5);
  write_tables(2);
  EXPECT_THAT(
      complaint(english_to_french),
      HasSubstr(": model.shared.weight and model.decoder.embed_tokens.weight differ, but the configuration says"));
}

TEST_F(MarianMt, SaysHowManyPiecesAreMadeUpForAShortList) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  set("vocab_size", "332");
  complaint();
  EXPECT_EQ(said, "");
  set("vocab_size", "1204");
  complaint();
  EXPECT_EQ(said, path() +
                      " lists 204 of the model's 1204 pieces; the other 1000 are made up and never used: expected "
                      "the list that the model was trained with");
}

TEST_F(MarianMt, NamesTheKeyThatTheShapesContradict) {
  for (const auto& [key, said] :
       {std::pair("d_model", "model.shared.weight is (204,8), expected 16 columns, as d_model in config.json says"),
        {"encoder_ffn_dim",
         "model.encoder.layers.0.fc1.weight is (12,8), expected 16 rows, as encoder_ffn_dim in config.json says"},
        {"decoder_ffn_dim",
         "model.decoder.layers.0.fc1.weight is (10,8), expected 16 rows, as decoder_ffn_dim in config.json says"}}) {
    set(key, "16");
    EXPECT_THAT(complaint(), HasSubstr(said));
  }
}

}  // namespace
}  // namespace dragoman
