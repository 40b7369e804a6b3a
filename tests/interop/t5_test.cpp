#include "interop/t5.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/log.h"
#include "interop/huggingface.h"
#include "model/frame.h"
#include "tests/interop/huggingface_folder.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class T5Folder : public HuggingFaceFolder {
 protected:
  explicit T5Folder(const std::string& name)
      : HuggingFaceFolder(name, {"config.json", "model.safetensors"}, {"spiece.model"}) {}
};

// The output layer is the table of embeddings, with relu: the first version of T5.
class T5 : public T5Folder {
 protected:
  T5() : T5Folder("t5") {}
};

// An output layer of its own, gated layers: T5 1.1, mT5, MADLAD-400.
class GatedT5 : public T5Folder {
 protected:
  GatedT5() : T5Folder("t5_gated") {}
};

// As transformers 5 saves it: "tie_word_embeddings" is true, although the output layer has a table of its own.
class MT5 : public T5Folder {
 protected:
  MT5() : T5Folder("mt5") {}
};

TEST_F(T5, GivesTheProbabilitiesAndTranslationsThatTransformersGives) {
  const ModelFile file = open_model(path());
  EXPECT_LT(score_difference(file, golden_pairs()), 1e-5);
  expect_generated(file, read("search.ids"));
  EXPECT_TRUE(file.config().embeddings.tied_all);
}

TEST_F(GatedT5, GivesTheProbabilitiesAndTranslationsThatTransformersGives) {
  const ModelFile file = open_model(path());
  EXPECT_LT(score_difference(file, golden_pairs()), 1e-5);
  expect_generated(file, read("search.ids"));
  EXPECT_FALSE(file.config().embeddings.tied_all);
}

TEST_F(GatedT5, GivesOthersIfAFormulaIsAnother) {
  const ConvertedModel model = *read_huggingface(path());
  const auto changed = [&](void (*change)(ModelConfig&)) {
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs());
  };
  EXPECT_GT(changed([](ModelConfig& c) { c.relative_max_distance = 5; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.attention.score = AttentionScore::scaled_dot; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::gelu; }), 1e-5);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::swish; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.norm_epsilon = 1e-3; }), 1e-4);
}

// Before version 5, transformers says only whether the matrices are the same, and files may have them twice.
TEST_F(T5, IsReadAsOlderVersionsWriteIt) {
  std::string config = read("config.json");
  const std::string added = "  \"scale_decoder_outputs\": true,\n";
  config.erase(config.find(added), added.size());
  folder.make("config.json", config);
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
  const std::string tied = "\"tie_word_embeddings\": true";
  config.replace(config.find(tied), tied.size(), "\"tie_word_embeddings\": false");
  folder.make("config.json", config);
  EXPECT_GT(score_difference(open_model(path()), golden_pairs()), 1e-3);  // without the factor
}

TEST_F(MT5, GivesTheProbabilitiesAndTranslationsThatTransformersGives) {
  const ModelFile file = open_model(path());
  EXPECT_LT(score_difference(file, golden_pairs()), 1e-5);
  expect_generated(file, read("search.ids"));
  EXPECT_FALSE(file.config().embeddings.tied_all);
}

// T5's class multiplies the input of the output layer by D^-½, mT5's of version 5 never does.
TEST_F(T5, IsNotScaledIfItIsMultilingualT5OfVersion5) {
  const auto final_norm = [&] {
    const ConvertedModel model = *read_huggingface(path());
    EXPECT_TRUE(model.config.embeddings.tied_all);
    return std::ranges::find(model.weights, "decoder.norm.weight", &TensorEntry::name)->make();
  };
  const auto scaled = final_norm();
  set("scale_decoder_outputs", "false");
  const auto unscaled = final_norm();
  set("model_type", "\"mt5\"");
  EXPECT_EQ(final_norm(), unscaled);
  EXPECT_NE(final_norm(), scaled);
}

// Before version 5, mT5's class multiplied as T5's, if the matrices were tied. By default they were not.
TEST_F(T5, IsScaledIfItIsTiedMultilingualT5BeforeVersion5) {
  const auto difference = [&](const char* version, const char* tied) {
    set("transformers_version",
        fmt::format(R"("{}", "model_type": "mt5", "scale_decoder_outputs": null, "tie_word_embeddings": {})", version,
                    tied));
    return score_difference(open_model(path()), golden_pairs());
  };
  EXPECT_LT(difference("4.57.1", "true"), 1e-5);
  EXPECT_GT(difference("4.57.1", "false"), 1e-3);
  EXPECT_GT(difference("4.57.1", "null"), 1e-3);
  EXPECT_GT(difference("5.24.0", "true"), 1e-3);
  EXPECT_GT(difference("10.0.0", "true"), 1e-3);
}

TEST_F(MT5, HasTheDefaultsOfItsClass) {
  set("feed_forward_proj", "null");
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
  set("decoder_start_token_id", "null");
  EXPECT_EQ(open_model(path()).config().first_token(), 0);
}

TEST_F(T5, MayBeginTheDecoderWithAnUnknownPieceAsInMadlad) {
  set("decoder_start_token_id", "0");
  const ModelConfig config = open_model(path()).config();
  EXPECT_EQ(config.first_token(), 0);
  EXPECT_EQ(config.special.unk, 0);
}

TEST_F(T5, NamesWhatIsNotSupported) {
  set("feed_forward_proj", "\"gated-tanh\"");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("feed_forward_proj is gated-tanh"), HasSubstr("config.json")));
  set("model_type", "\"umt5\"");  // has positions of its own in each layer
  EXPECT_THAT(complaint(), HasSubstr("model_type is umt5, expected marian"));
  set("relative_attention_num_buckets", "7");
  EXPECT_THAT(complaint(), HasSubstr("--transformer-relative-buckets 7 is odd"));
}

TEST_F(T5, NamesTheKeyThatTheShapesContradict) {
  for (const auto& [key, value, said] :
       {std::tuple("d_model", "16", "shared.weight is (345,8), expected 16 columns, as d_model in config.json says"),
        {"vocab_size", "350", "shared.weight is (345,8), expected 350 rows, as vocab_size in config.json says"},
        {"d_ff", "16", "wi.weight is (14,8), expected 16 rows, as d_ff in config.json says"},
        {"d_kv", "16", "q.weight is (12,8), expected 32 rows, as num_heads times d_kv in config.json says"}}) {
    set(key, value);
    EXPECT_THAT(complaint(), HasSubstr(said));
  }
}

TEST_F(T5, BeginsTranslationsAsGenerateIsTold) {
  folder.make("generation_config.json", R"({"forced_bos_token_id": 9})");
  EXPECT_THAT(target_frame(open_model(path()).config()).before, testing::ElementsAre(9));
}

// The SentencePiece model has 340 pieces, the table of embeddings 345 rows.
TEST_F(T5, HasTheTokensThatWereAdded) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  folder.make("added_tokens.json",
              R"({"<pad>": 340, "<extra_id_0>": 341, "<2xx>": 343, "a": 344, "<beyond>": 345, "</s>": 2})");
  const ModelFile file = open_model(path(), {.languages = {"", "xx"}});
  const Vocabulary& source = file.vocabularies().source;
  EXPECT_EQ(source.size(), 345);
  EXPECT_EQ(source.piece(341), "<extra_id_0>");
  EXPECT_EQ(source.piece(343), "<2xx>");
  EXPECT_THAT(source_frame(file.config()).before, testing::ElementsAre(343));
  EXPECT_EQ(source.decode(std::vector<int32_t>{343}), "");
  EXPECT_THAT(said, HasSubstr(": these added tokens are not found in text, nor shown: <2xx>"));
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
}

// Otherwise the language of --target-lang would be the forced piece.
TEST_F(T5, IsToldThatItsLinesBeginWithTheLanguage) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  folder.make("added_tokens.json", R"({"<2xx>": 343})");
  folder.make("generation_config.json", R"({"forced_bos_token_id": 9})");
  const ModelConfig config = open_model(path(), {.languages = {"", "xx"}}).config();
  EXPECT_THAT(source_frame(config).before, testing::ElementsAre(343));
  EXPECT_THAT(target_frame(config).before, testing::ElementsAre());
  EXPECT_THAT(target_frame(open_model(path()).config()).before, testing::ElementsAre());
  EXPECT_THAT(said,
              HasSubstr("generation_config.json: forced_bos_token_id 9 is ignored, as lines of this model begin"));
}

TEST_F(T5, IsNotReadIfItReadsBytes) {
  folder.make("tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
  std::filesystem::remove(folder / "spiece.model");
  EXPECT_THAT(complaint(),
              HasSubstr("tokenizer_config.json: tokenizer_class is ByT5Tokenizer, which dragoman does not"));
}

TEST_F(T5, NamesTheSentencePieceModelThatIsMissing) {
  std::filesystem::remove(folder / "spiece.model");
  EXPECT_THAT(complaint(), HasSubstr("has no spiece.model"));
}

}  // namespace
}  // namespace dragoman
