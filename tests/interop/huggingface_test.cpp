#include "interop/huggingface.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "interop/huggingface_vocabulary.h"
#include "interop/open_model.h"
#include "io/safetensors.h"
#include "model/frame.h"
#include "tests/interop/huggingface_folder.h"
#include "tests/interop/torch_stream.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(MarianMt, IsNotReadWithoutAFileThatALinkNames) {
  for (const char* name : {"source.spm", "target_vocab.json", "generation_config.json", "config.json"}) {
    std::filesystem::remove(folder / name);
    std::filesystem::create_symlink("nowhere", folder / name);
    EXPECT_THAT(complaint(), testing::HasSubstr(folder / name + ": cannot be opened: No such file"));
    std::filesystem::remove(folder / name);
    if (std::string(name) == "source.spm") folder.make(name, sentencepiece());
  }
}

// Not even if there are other weights.
TEST_F(MarianMt, IsNotReadWithoutTheWeightsThatALinkNames) {
  for (const char* name : {"model.safetensors.index.json", "model.safetensors"}) {
    std::filesystem::remove(folder / name);
    std::filesystem::create_symlink("nowhere", folder / name);
    folder.make("pytorch_model.bin", "");
    EXPECT_THAT(complaint(), testing::HasSubstr(folder / name + ": cannot be opened: No such file"));
    std::filesystem::remove(folder / name);
  }
}

TEST_F(MarianMt, GivesTheProbabilitiesThatTransformersGives) {
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
}

TEST_F(MarianMt, IsSearchedAsTransformersSearches) { expect_generated(open_model(path()), read("search.ids")); }

// As a program does that takes Marian's formulas for those of Hugging Face.
TEST_F(MarianMt, GivesOthersIfAFormulaIsAnother) {
  const ConvertedModel model = *read_huggingface(path());
  const auto changed = [&](void (*change)(ModelConfig&)) {
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs());
  };
  EXPECT_GT(changed([](ModelConfig& c) { c.position_spacing = PositionSpacing::tensor2tensor; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::gelu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_heads = 2; }), 1e-3);
}

// float16 and bfloat16 keep their bytes in what is written, and are read.
TEST_F(MarianMt, MayHaveWeightsInHalfPrecision) {
  ConvertedModel model = *read_huggingface(path());
  for (TensorEntry& weight : model.weights) {
    weight.dtype = DType::f16;
    weight.make = [floats = weight.make] {
      const std::vector<std::byte> from = floats();
      std::vector<std::byte> to(from.size() / 2);
      for (size_t i = 0; i < to.size() / 2; ++i) {
        float value = 0;
        std::memcpy(&value, from.data() + 4 * i, 4);
        const float16 half(value);
        std::memcpy(to.data() + 2 * i, &half, 2);
      }
      return to;
    };
  }
  const ModelFile file = ModelFile::in_memory("m", model.config, model.vocabularies, model.weights);
  EXPECT_EQ(file.tensors().get("embedding.weight").dtype, DType::f16);
  EXPECT_LT(score_difference(file, golden_pairs()), 1e-2);
  EXPECT_GT(score_difference(file, golden_pairs()), 1e-6);
}

// A line may begin with the language to translate into; pieces that the list lacks are unknown.
TEST_F(MarianMt, NumbersPiecesByItsList) {
  const Vocabularies v = read_huggingface(path())->vocabularies;
  EXPECT_EQ(v.source.size(), 204);
  EXPECT_THAT(v.source.encode(">>deu<<"), ElementsAre(2));
  const auto with = v.source.encode(">>deu<< a dog"), without = v.source.encode("a dog");
  ASSERT_EQ(with.size(), without.size() + 1);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin() + 1));
}

TEST_F(MarianMt, RefusesByNameWhatIsAnotherModel) {
  set("model_type", "\"bart\"");
  EXPECT_THAT(complaint(), HasSubstr("config.json: model_type is bart, expected marian, m2m_100, mbart, t5 or mt5"));
  set("vocab_size", "70000000");  // rows that no file could hold
  EXPECT_THAT(complaint(), HasSubstr("vocab.json has 204 pieces, but the model's configuration says 70000000"));
  set("activation_function", "\"mish\"");
  EXPECT_THAT(complaint(), HasSubstr("activation_function is mish, which dragoman does not support"));
  set("d_model", "\"8\"");
  EXPECT_THAT(complaint(), HasSubstr("d_model is \"8\", expected a whole number"));
  set("encoder_layers", "3");
  EXPECT_THAT(complaint(), HasSubstr("has no tensor model.encoder.layers.2.self_attn.q_proj.weight"));
  set("decoder_layers", "null");
  EXPECT_THAT(complaint(), HasSubstr("has no decoder_layers"));
  set("decoder_start_token_id", "7");
  EXPECT_THAT(complaint(), HasSubstr("decoder_start_token_id is 7"));
}

TEST_F(MarianMt, NamesTheSentencePieceModelThatIsBroken) {
  for (const std::string name : {"target.spm", "source.spm"}) {
    folder.make(name, sentencepiece().substr(0, 5000));
    EXPECT_EQ(complaint(), folder / name + " is not a SentencePiece model, or is truncated");
  }
}

TEST_F(MarianMt, TakesOnlyWholeNumbersForNumbers) {
  set("encoder_attention_heads", "2.0");
  EXPECT_EQ(complaint(), "");
  for (const std::string value : {"true", "4294967304", "-4294967304", "8.9", "1e300", "18446744073709551615", "[8]"}) {
    set("encoder_attention_heads", value);
    EXPECT_THAT(complaint(), HasSubstr("config.json: encoder_attention_heads is ")) << value;
    EXPECT_THAT(complaint(), HasSubstr(", expected a whole number of at most 2147483647")) << value;
  }
  set("encoder_attention_heads", '"' + std::string(5000, 'x') + '"');
  EXPECT_LT(complaint().size(), 300);
  folder.make("config.json", read("config.json"));
  folder.make("generation_config.json", R"({"bad_words_ids": [[4294967304]]})");
  EXPECT_THAT(complaint(), HasSubstr("generation_config.json: an id in bad_words_ids is 4294967304, expected a whole"));
}

std::string torch_copy_of(const SafetensorsFile& model, size_t first, size_t last) {
  std::vector<TorchTensor> tensors;
  for (size_t i = first; i < last; ++i) {
    const TensorEntry& t = model.tensors()[i];
    std::vector<int64_t> strides(t.shape.size(), 1);
    for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * t.shape[d];
    tensors.push_back({.name = t.name,
                       .shape = t.shape,
                       .strides = strides,
                       .data = {reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size()}});
  }
  return torch_stream(tensors);
}

TEST_F(MarianMt, MayHaveItsWeightsInFilesOfTorch) {
  const SafetensorsFile model(golden("marianmt/model.safetensors"));
  const size_t count = model.tensors().size();
  std::filesystem::remove(folder / "model.safetensors");
  folder.make("pytorch_model.bin", torch_copy_of(model, 0, count));
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
  std::filesystem::remove(folder / "pytorch_model.bin");
  folder.make("a.bin", torch_copy_of(model, 0, 5));
  folder.make("b.bin", torch_copy_of(model, 5, count));
  folder.make("pytorch_model.bin.index.json", R"({"weight_map": {"x": "a.bin", "y": "b.bin"}})");
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
}

// A language that is given stands where `>>fra<<` would.
TEST_F(MarianMt, MayBeToldTheLanguage) {
  const ModelFile told = open_model(path(), {.languages = {"", "deu"}});
  EXPECT_THAT(source_frame(told.config()).before, ElementsAre(2));
  EXPECT_THAT(source_frame(open_model(path()).config()).before, ElementsAre());
  EXPECT_THAT(complaint({.languages = {"", "fra"}}), HasSubstr("--target-lang fra: "));
  EXPECT_THAT(complaint({.languages = {"deu", ""}}), HasSubstr("takes no source language"));
}

// Without the weights, which have fewer rows than there are languages.
Vocabularies huggingface_vocabularies_of(const std::string& folder) {
  const JsonObject config(std::filesystem::path(folder) / "config.json");
  ModelConfig model = huggingface_model_config(config, config);
  return huggingface_vocabularies(folder, config, config, model);
}

// Two small files could otherwise ask for two billion pieces.
TEST_F(MarianMt, IsRefusedIfAnAddedTokenIsFarBeyondTheOthers) {
  set("vocab_size", "2000000000");
  folder.make("added_tokens.json", R"({"far": 1999999999})");
  EXPECT_THAT(complaint(),
              HasSubstr("its added token far has the id 1999999999, expected less than 65741 after 204 pieces"));
}

// An added language begins a line as those of vocab.json do.
TEST_F(MarianMt, FindsAnAddedLanguageInText) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  set("vocab_size", "206");
  folder.make("added_tokens.json", R"({">>xyz<<": 204, ">>xyz": 205})");
  const Vocabulary v = huggingface_vocabularies_of(path()).source;
  EXPECT_THAT(v.encode(">>xyz<<"), ElementsAre(204));
  const auto with = v.encode(">>xyz<< a dog"), without = v.encode("a dog");
  ASSERT_EQ(with.size(), without.size() + 1);
  EXPECT_EQ(with[0], 204);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin() + 1));
  EXPECT_FALSE(v.is_control(204));
  EXPECT_TRUE(v.is_control(205));
  EXPECT_TRUE(said.ends_with(": these added tokens are not found in text, nor shown: >>xyz")) << said;
}

TEST_F(M2M100, GivesTheProbabilitiesAndTranslationsThatTransformersGives) {
  const ModelFile file = open_model(path(), english_to_french);
  EXPECT_LT(score_difference(file, golden_pairs(), 1), 1e-5);
  expect_generated(file, read("search.ids"));
}

TEST_F(M2M100, GivesOthersIfAFormulaIsAnother) {
  const ConvertedModel model = *read_huggingface(path());
  const auto changed = [&](void (*change)(ModelConfig&)) {
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs(), 1);
  };
  EXPECT_GT(changed([](ModelConfig& c) { c.position_spacing = PositionSpacing::paper; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::bos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
}

// Keys that config.json lacks have the defaults of the class, which differ.
TEST_F(M2M100, HasTheDefaultsOfItsClass) {
  for (const char* key : {"activation_function", "scale_embedding", "decoder_start_token_id", "pad_token_id"}) {
    set(key, "null");
    EXPECT_LT(score_difference(open_model(path(), english_to_french), golden_pairs(), 1), 1e-5) << key;
  }
}

TEST_F(M2M100, BeginsAsGenerateSays) {
  folder.make("generation_config.json", R"({"decoder_start_token_id": 0})");
  EXPECT_EQ(open_model(path()).config().first_token(), 0);
  folder.make("generation_config.json", R"({"decoder_start_token_id": 1})");
  EXPECT_EQ(open_model(path()).config().decoder_start, DecoderStart::pad);
}

TEST_F(M2M100, SaysWhichLanguageIsMissing) {
  const ModelFile file = open_model(path());
  EXPECT_THROW(source_frame(file.config()), Error);
  EXPECT_THROW(target_frame(file.config()), Error);
  EXPECT_THAT(complaint({.languages = {"en", "xx"}}), HasSubstr("--target-lang xx: "));
}

TEST_F(M2M100, NamesTheSentencePieceModelThatIsBroken) {
  const std::string path = folder.make("sentencepiece.bpe.model", "broken");
  EXPECT_EQ(complaint(), path + " is text, expected a SentencePiece model");
}

// Version 5 of transformers saves nothing but the name of a list that its tokenizer has.
TEST_F(M2M100, KnowsTheLanguagesOfItsTokenizer) {
  std::filesystem::remove(folder / "special_tokens_map.json");
  EXPECT_THAT(complaint(), HasSubstr("no file names its languages"));
  set("vocab_size", "164");
  const char* settings = R"({"added_tokens_decoder": {"0": {"content": "<s>"}}, "language_codes": ")";
  folder.make("tokenizer_config.json", settings + std::string("m2m100\"}"));
  const Vocabularies v = huggingface_vocabularies_of(path());
  EXPECT_EQ(v.target.size(), 164);
  EXPECT_EQ(v.target.piece(64), "__af__");
  EXPECT_EQ(v.target.piece(64 + 18), "__en__");
  EXPECT_EQ(v.target.piece(163), "__zu__");
  folder.make("tokenizer_config.json", settings + std::string("wmt21\"}"));
  EXPECT_EQ(huggingface_vocabularies_of(path()).target.piece(71), "__de__");
  folder.make("tokenizer_config.json", settings + std::string("m2m7\"}"));
  EXPECT_THAT(complaint(), HasSubstr("no file names its languages"));
}

// Text is never a language; a translation does not show its own.
TEST_F(M2M100, HasPiecesOfLanguagesThatAreNoText) {
  const Vocabularies v = open_model(path()).vocabularies();
  const std::string written = v.source.decode(v.source.encode("a __fr__"));
  EXPECT_EQ(written.find("__fr__"), std::string::npos);
  EXPECT_EQ(v.target.piece(66), "__fr__");
  EXPECT_EQ(v.target.decode(std::vector<int32_t>{66}), "");
}

// NLLB's folders: pieces are numbered by the SentencePiece model, languages by tokenizer.json.
TEST_F(MBart, GivesTheProbabilitiesAndTranslationsThatTransformersGives) {
  const ModelFile file = open_model(path(), english_to_french);
  EXPECT_LT(score_difference(file, golden_pairs(), 1), 1e-5);
  expect_generated(file, read("search.ids"));
}

TEST_F(MBart, TakesItsLanguagesFromWhereverTheyAre) {
  const ModelConfig expected = open_model(path(), english_to_french).config();
  std::filesystem::remove(folder / "special_tokens_map.json");
  EXPECT_THAT(complaint(), HasSubstr("no file names its languages"));
  const int first = expected.generation.source_language_id - 1;
  const auto id = [&](int i) { return std::to_string(first + i); };
  folder.make("added_tokens.json", "{\"__fr__\": " + id(2) + ", \"__de__\": " + id(0) + ", \"__en__\": " + id(1) + "}");
  EXPECT_EQ(open_model(path(), english_to_french).config().generation.target_language_id, first + 2);
  folder.make("tokenizer.json", R"({"added_tokens": [{"id": 0, "content": "<s>"}, {"id": )" + id(0) +
                                    R"(, "content": "__en__"}, {"id": )" + id(1) + R"(, "content": "__fr__"}]})");
  EXPECT_EQ(open_model(path(), english_to_french).config().generation.target_language_id, first + 1);
  folder.make("tokenizer.json", R"({"added_tokens": [{"id": 7000, "content": "__en__"}]})");
  EXPECT_THAT(complaint(), HasSubstr("its added token __en__ has the id 7000"));
}

TEST_F(MBart, NamesTheSentencePieceModelThatIsBroken) {
  const std::string path = folder.make("sentencepiece.bpe.model", "broken");
  EXPECT_EQ(complaint(), path + " is text, expected a SentencePiece model");
}

// Nothing says what the decoder begins with: generate() takes <s>.
TEST_F(MBart, BeginsWithBosIfNothingSaysOtherwise) {
  set("decoder_start_token_id", "null");
  EXPECT_EQ(open_model(path()).config().first_token(), 0);
}

TEST_F(MBart, MayHaveItsLanguageAtTheEndOfTheSource) {
  folder.make("tokenizer_config.json", R"({"legacy_behaviour": true})");
  const ModelConfig config = open_model(path(), english_to_french).config();
  EXPECT_THAT(source_frame(config).before, ElementsAre());
  EXPECT_THAT(source_frame(config).after, ElementsAre(2, config.generation.source_language_id));
}

TEST(HuggingFace, DoesNotWaitForTheWriterOfAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "config.json").c_str(), 0600), 0);
  EXPECT_THAT([&] { read_huggingface(folder / ""); },
              testing::ThrowsMessage<Error>(HasSubstr("config.json is not a file on disk")));
}

TEST(HuggingFace, IsAFolderWithAConfiguration) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_huggingface(folder / ""));
  EXPECT_FALSE(read_huggingface(folder.make("config.json", "{}")));
}

TEST_F(MarianMt, MustSayWhatTheDecoderBeginsWith) {
  set("decoder_start_token_id", "null");
  EXPECT_THAT(complaint(), HasSubstr("config.json has no decoder_start_token_id, nor has generation_config.json"));
  folder.make("generation_config.json", R"({"decoder_start_token_id": 203})");
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
}

TEST_F(MarianMt, EndsTranslationsWithOnePiece) {
  set("eos_token_id", "[0]");
  EXPECT_THAT(complaint(), HasSubstr("config.json: eos_token_id is [0], expected one id"));
}

TEST_F(MarianMt, HasAtLeastOneHead) {
  set("decoder_attention_heads", "0");
  EXPECT_THAT(complaint(), HasSubstr("config.json: decoder_attention_heads is 0, expected at least 1"));
}

TEST_F(M2M100, HasItsPadInTheVocabulary) {
  set("pad_token_id", "2147483647");
  EXPECT_THAT(complaint(english_to_french), HasSubstr("pad_token_id is 2147483647, expected less than vocab_size"));
}

TEST_F(MarianMt, ContainsItsVocabularies) {
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(said, "");
  EXPECT_EQ(complaint({.vocabs = {"no.spm", "no.spm"}}), "");
  EXPECT_EQ(said, "--vocabs is ignored: " + path() + " contains its vocabularies");
}

TEST_F(MarianMt, IsNamedByItsFolder) {
  const auto hint = [](const std::string& path) {
    try {
      open_model(path);
    } catch (const Error& e) {
      return e.hint();
    }
    return std::string();
  };
  EXPECT_THAT(hint(folder / "model.safetensors"),
              HasSubstr("give the folder: " + std::string(folder / "").substr(0, std::string(folder / "").size() - 1)));
  EXPECT_THAT(hint(folder / "config.json"), HasSubstr("give the folder"));
  const TemporaryFolder empty;
  EXPECT_THAT(hint(empty / ""), HasSubstr("looked for config.json"));
}

}  // namespace
}  // namespace dragoman
