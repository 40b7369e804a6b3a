#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "interop/alibi_table.h"
#include "interop/ctranslate2.h"
#include "interop/export.h"
#include "interop/huggingface.h"
#include "interop/huggingface_files.h"
#include "interop/open_model.h"
#include "interop/write_ctranslate2.h"
#include "interop/write_huggingface.h"
#include "interop/write_marian.h"
#include "interop/write_onnx.h"
#include "io/int8_weights.h"
#include "model/frame.h"
#include "tests/failing_calls.h"
#include "tests/interop/golden.h"
#include "tests/interop/huggingface_folder.h"
#include "tests/interop/score_difference.h"
#include "tests/interop/written_model.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"
#include "vocab/container.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string complaint_of(const ModelFile& model) {
  const TemporaryFolder folder;
  return complaint(write_ctranslate2, model, folder / "ct2");
}

TEST(WriteCTranslate2, GivesBackWhatWasRead) {
  for (const char* name : {"ct2_marian", "ct2_opennmt", "ct2_madlad", "ct2_rotary", "ct2_relative"}) {
    TemporaryFolder folder;
    const ModelFile model = open_model(golden(name));
    write_ctranslate2(model, folder / "ct2");
    const ModelFile again = open_model(folder / "ct2");
    expect_same_weights(model, again);
    EXPECT_EQ(model.vocabularies().target.size(), again.vocabularies().target.size());
    EXPECT_EQ(model.config().special, again.config().special);
    EXPECT_EQ(model.config().first_token(), again.config().first_token());
    EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
  }
}

TEST(WriteCTranslate2, WritesModelsOfDragoman) {
  TemporaryFolder folder;
  const ModelFile model(save_toy_model(folder / "ours", 1));
  write_ctranslate2(model, folder / "ct2");
  const ModelFile again = open_model(folder / "ct2");
  expect_same_weights(model, again);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
  EXPECT_EQ(model.vocabularies().source.encode("a small house"), again.vocabularies().source.encode("a small house"));
}

// T5's decoder begins with <pad>, which is never generated: it takes no probability from the others there.
TEST(WriteCTranslate2, GivesBackT5ExceptForTheProbabilityOfPad) {
  const TemporaryFolder folder;
  ConvertedModel t5 = *read_ctranslate2(golden("ct2_t5"), {});
  write_ctranslate2(open_model(golden("ct2_t5")), folder / "ct2");
  std::vector<float> bias(size_t(t5.config.target_vocabulary), 0.0f);
  bias[size_t(t5.config.special.pad)] = -100;
  t5.config.embeddings.output_bias = true;
  t5.weights.push_back({.name = "output.bias", .dtype = DType::f32, .shape = {int64_t(bias.size())}, .make = [bias] {
                          const auto bytes = std::as_bytes(std::span(bias));
                          return std::vector(bytes.begin(), bytes.end());
                        }});
  const ModelFile model = ModelFile::in_memory("m", t5.config, t5.vocabularies, t5.weights),
                  again = open_model(folder / "ct2");
  EXPECT_EQ(again.config().special, t5.config.special);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

ModelConfig config_with_relative_biases() {
  ModelConfig config = toy_config();
  config.encoder_layers = config.decoder_layers = 2;
  config.positions = Positions::relative_bias, config.relative_buckets = 8, config.relative_max_distance = 6;
  config.gated_feed_forward = true, config.activation = Activation::swish;
  config.norm_kind = NormKind::rms, config.norm_epsilon = 1e-6;
  return config;
}

// Heads of the usual size and of another one, dot products that are scaled and not, and other heads in the decoder.
TEST(WriteCTranslate2, WritesGatedLayersAndRelativeBiases) {
  for (const AttentionScore score : {AttentionScore::scaled_dot, AttentionScore::dot})
    for (const int key_size : {0, 6})
      for (const NormPlacement norm : {NormPlacement::pre, NormPlacement::post}) {
        TemporaryFolder folder;
        ModelConfig config = config_with_relative_biases();
        config.attention.score = score, config.key_size = key_size, config.norm = norm;
        if (key_size > 0 && norm == NormPlacement::pre) config.decoder_heads = 3;
        const ModelFile model(save_toy_model(folder / "ours", 1, config));
        write_ctranslate2(model, folder / "ct2");
        const ModelFile again = open_model(folder / "ct2");
        expect_same_weights(model, again);
        EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
      }
}

void expect_positions_back(const ModelConfig& config) {
  TemporaryFolder folder;
  const ModelFile model(save_toy_model(folder / "ours", 1, config));
  write_ctranslate2(model, folder / "ct2");
  const ModelFile again = open_model(folder / "ct2");
  EXPECT_EQ(again.config().positions, config.positions);
  expect_same_weights(model, again);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

// ALiBi becomes T5's biases, which are recognised.
TEST(WriteCTranslate2, WritesPositionsOfSelfAttention) {
  for (const AttentionScore score : {AttentionScore::scaled_dot, AttentionScore::dot}) {
    ModelConfig config = toy_config();
    config.encoder_layers = config.decoder_layers = 2, config.attention.score = score;
    config.relative_positions = 3;
    for (const Positions positions : {Positions::relative, Positions::rotary, Positions::alibi}) {
      config.positions = positions;
      expect_positions_back(config);
    }
    config.positions = Positions::relative, config.relative_values = true;
    expect_positions_back(config);
  }
}

TEST(AlibiTable, HasTheBiasOfEachDistance) {
  constexpr int heads = 8;
  for (const BucketDesign& design : {BucketDesign{4096, 4096, false}, BucketDesign{4096, 4096, true}}) {
    const std::vector<float> table = alibi_table(design, heads);
    const std::vector<int32_t> buckets = distance_buckets(design);
    const int exact = design.per_direction() / 2;
    for (int distance = -exact + 1; distance < (design.causal ? 1 : exact); ++distance)
      for (int h = 0; h < heads; ++h)
        ASSERT_FLOAT_EQ(table[size_t(buckets[size_t(distance + design.longest)] * heads + h)],
                        -std::pow(2.f, float(-(h + 1))) * float(std::abs(distance)))
            << distance << ", head " << h;
  }
}

TEST(WriteCTranslate2, NamesTheKindThatCTranslate2DoesNotHave) {
  TemporaryFolder folder;
  const auto complaint_of = [&](void (*change)(ModelConfig&)) {
    ModelConfig config = toy_config();
    change(config);
    return complaint(write_ctranslate2, ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "ct2");
  };
  EXPECT_THAT(complaint_of([](ModelConfig& c) { c.positions = Positions::none; }),
              HasSubstr("its 'positions' is none, which cannot be written for CTranslate2"));
  EXPECT_THAT(complaint_of([](ModelConfig& c) { c.norm_kind = NormKind::batch; }),
              HasSubstr("its 'norm_kind' is batch, which cannot be written for CTranslate2 (only layer, rms)"));
  EXPECT_THAT(complaint_of([](ModelConfig& c) { c.attention.score = AttentionScore::additive; }),
              HasSubstr("its 'attention_score' is additive, which cannot be written for CTranslate2"));
  EXPECT_THAT(
      complaint_of([](ModelConfig& c) { c.activation = Activation::tanh; }),
      HasSubstr(folder / "ours: its 'activation' is tanh, which cannot be written for CTranslate2 (only relu, "));
  EXPECT_THAT(complaint_of([](ModelConfig& c) { c.value_size = 5; }), HasSubstr("its 'value_size' is 5"));
  EXPECT_FALSE(fs::exists(folder / "ct2"));
}

// A model read from another program may have them.
TEST(WriteCTranslate2, WritesFloat64AsFloat32) {
  const TemporaryFolder folder;
  Arena arena;
  const auto doubles = make_model(toy_config(), backend("cpu"), arena, DType::f64, false);
  doubles->parameters().initialise(1);
  save_model(folder / "ours", toy_config(), {toy_vocabulary(), toy_vocabulary()}, weights_of(doubles->parameters()));
  const ModelFile model(folder / "ours");
  ASSERT_EQ(model.tensors().get("embedding.weight").dtype, DType::f64);
  write_ctranslate2(model, folder / "ct2");
  const ModelFile again = open_model(folder / "ct2");
  EXPECT_EQ(again.tensors().get("embedding.weight").dtype, DType::f32);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

// A piece that training has never seen may have an embedding of zeros. CTranslate2 divides by the numbers it stores.
TEST(WriteCTranslate2, WritesRowsOfZerosInEightBits) {
  TemporaryFolder folder;
  Arena arena;
  const auto weights = weights_of(toy_model(arena, 1)->parameters());
  const auto embedding = std::ranges::find(weights, "embedding.weight", &NamedTensor::name);
  std::fill_n(embedding->value.as<float>() + 5 * toy_config().dim, toy_config().dim, 0.0f);
  save_model(folder / "ours", toy_config(), {toy_vocabulary(), toy_vocabulary()}, in_int8(weights, arena, "ours"));
  const ModelFile model(folder / "ours");
  ASSERT_EQ(values_of<float>(model.tensors().get(scale_name("embedding.weight")))[5], 0);
  write_ctranslate2(model, folder / "ct2");
  const ModelFile again = open_model(folder / "ct2");
  EXPECT_EQ(values_of<float>(again.tensors().get(scale_name("embedding.weight")))[5], 1);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

void make_marian_mt(const TemporaryFolder& folder) {
  for (const char* name : {"config.json", "vocab.json", "model.safetensors"})
    folder.make(name, read_file(golden(std::string("marianmt/") + name)));
  for (const char* name : {"source.spm", "target.spm"})
    folder.make(name, read_file(source_dir() + "/tests/vocab/golden/bpe.spm"));
}

// What is written is read again.
TEST(WriteHuggingFace, WritesEveryActivation) {
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::swish,
                                      Activation::gelu_sigmoid, Activation::tanh, Activation::none}) {
    const TemporaryFolder folder;
    ModelConfig config = toy_config();
    config.activation = activation;
    write_huggingface(ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "hf");
    EXPECT_EQ(open_model(folder / "hf").config().activation, activation) << name_of(activation);
  }
}

// CTranslate2 has no list of pieces that are never generated, so the file gives them no probability.
TEST(WriteCTranslate2, LetsTheDecoderBeginWithPadAndNeverGenerateIt) {
  const TemporaryFolder folder;
  make_marian_mt(folder);
  folder.make("generation_config.json", R"({"bad_words_ids": [[203]], "suppress_tokens": [12]})");
  write_ctranslate2(open_model(folder / ""), folder / "ct2");
  folder.make("generation_config.json",
              R"({"bad_words_ids": [[203]], "suppress_tokens": [12], "renormalize_logits": true})");
  const ModelFile model = open_model(folder / ""), again = open_model(folder / "ct2");
  EXPECT_EQ(again.config().decoder_start, DecoderStart::pad);
  EXPECT_EQ(again.config().special.pad, 203);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

// The reader finds languages by their pieces.
TEST_F(MarianMt, KeepsItsLanguagesInAFolderOfCTranslate2) {
  write_ctranslate2(open_model(path()), folder / "ct2");
  const ModelFile model = open_model(path(), {.languages = {"", "deu"}}),
                  again = open_model(folder / "ct2", {.languages = {"", "deu"}});
  EXPECT_EQ(open_model(folder / "ct2").config().generation.target_language, TargetLanguage::source);
  EXPECT_EQ(source_frame(again.config()).before, source_frame(model.config()).before);
  const std::string line = ">>deu<< a small house";
  EXPECT_EQ(again.vocabularies().source.encode(line), model.vocabularies().source.encode(line));
  EXPECT_THAT(complaint_of(model), HasSubstr("its 'target_language_id' is 2, which cannot be written for CTranslate2"));
}

TEST_F(M2M100, KeepsItsLanguagesInAFolderOfCTranslate2) {
  write_ctranslate2(open_model(path()), folder / "ct2");
  const ModelFile model = open_model(path(), english_to_french), again = open_model(folder / "ct2", english_to_french);
  EXPECT_EQ(source_frame(again.config()).around({}), source_frame(model.config()).around({}));
  EXPECT_EQ(target_frame(again.config()).before, target_frame(model.config()).before);
  EXPECT_EQ(again.config().special, model.config().special);
  EXPECT_EQ(again.vocabularies().source.encode("a small house"), model.vocabularies().source.encode("a small house"));
  EXPECT_EQ(again.vocabularies().target.is_control(model.config().generation.target_language_id), true);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
  EXPECT_THAT(complaint_of(model), HasSubstr("its 'source_language_id' is "));
}

// NLLB's first tokenizer put the source language after the text, which the reader would not find again.
TEST_F(M2M100, IsNotWrittenForCTranslate2IfTheLanguageComesLast) {
  folder.make("tokenizer_config.json", R"({"legacy_behaviour": true})");
  EXPECT_THAT(complaint_of(open_model(path())), HasSubstr("its 'source_language' is \"last\""));
}

TEST(WriteCTranslate2, SuppressesPiecesOfAModelWithoutABias) {
  const TemporaryFolder folder;
  ModelConfig config = toy_config();
  config.generation.suppressed = {6};
  write_ctranslate2(ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "ct2");
  const ModelFile again = open_model(folder / "ct2");
  const std::vector<float> bias = values_of<float>(again.tensors().get("output.bias"));
  EXPECT_EQ(bias[6], -100);
  EXPECT_EQ(std::ranges::count(bias, 0), config.target_vocabulary - 1);
}

TEST(WriteHuggingFace, GivesBackWhatWasRead) {
  TemporaryFolder folder;
  make_marian_mt(folder);
  const ModelFile model = open_model(folder / "");
  write_huggingface(model, folder / "again");
  const ModelFile again = open_model(folder / "again");
  expect_same_weights(model, again);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

// A vocabulary gets a <pad>, which has no probability.
TEST(WriteHuggingFace, WritesModelsOfDragoman) {
  TemporaryFolder folder;
  const ModelFile model(save_toy_model(folder / "ours", 1));
  write_huggingface(model, folder / "hf");
  const ModelFile again = open_model(folder / "hf");
  EXPECT_EQ(again.config().source_vocabulary, model.config().source_vocabulary + 1);
  EXPECT_EQ(again.config().special.pad, model.config().source_vocabulary);
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

// A decoder that begins with zeros cannot begin with a <pad> whose embedding is another.
TEST(WriteHuggingFace, AddsAPieceToBeginWithIfPadIsNotZero) {
  const TemporaryFolder folder;
  make_marian_mt(folder);
  ConvertedModel converted = *read_huggingface(folder / "");
  converted.config.decoder_start = DecoderStart::zero, converted.config.special.pad = 7;
  const ModelFile model = ModelFile::in_memory("m", converted.config, converted.vocabularies, converted.weights);
  write_huggingface(model, folder / "hf");
  const ModelFile again = open_model(folder / "hf");
  EXPECT_EQ(again.config().special.pad, 204);
  EXPECT_EQ(again.vocabularies().target.piece(204), "<zero>");
  EXPECT_THAT(again.config().generation.suppressed, testing::Contains(7));
  EXPECT_LT(score_difference(again, pairs_of(model)), 1e-5);
}

TEST(WriteHuggingFace, WritesLongLists) {
  constexpr int pieces = 20'000;
  const TemporaryFolder folder;
  make_marian_mt(folder);
  ConvertedModel converted = *read_huggingface(folder / "");
  ListedVocabulary list = from_container(converted.vocabularies.source.bytes(), "source");
  while (list.pieces.size() < pieces) list.pieces.push_back(fmt::format("word {}", list.pieces.size()));
  const Vocabulary both = Vocabulary::from_list(std::move(list), "list");
  converted.config.source_vocabulary = converted.config.target_vocabulary = pieces;
  const ModelFile model = ModelFile::in_memory("m", converted.config, {both, both}, converted.weights);
  write_huggingface_files(OutputFolder(folder / ""), model);
  EXPECT_EQ(pieces_of_json(folder.content_of("vocab.json"), "vocab.json").at(pieces - 1), both.piece(pieces - 1));
}

// Marian's lists hold any bytes, JSON does not.
TEST(WriteModels, NamesThePieceThatIsNotUtf8) {
  const TemporaryFolder folder;
  std::string list = read_file(golden("words.yml"));
  list.replace(list.find("spare0"), 6, "sp\xff");
  const std::string words = golden("words.yml"), raw = folder.make("raw.yml", list);
  const ModelFile source = open_model(golden("tied.npz"), {.vocabs = {raw, words}}),
                  target = open_model(golden("tied.npz"), {.vocabs = {words, raw}});
  for (const Write write : {write_ctranslate2, write_onnx}) {
    EXPECT_THAT(complaint(write, source, folder / "m"),
                HasSubstr("piece 15 of the source vocabulary is \"sp\\xff\", expected UTF-8"));
    EXPECT_THAT(complaint(write, target, folder / "m"),
                HasSubstr("piece 15 of the target vocabulary is \"sp\\xff\", expected UTF-8"));
  }
  EXPECT_EQ(folder.files(), 1);
}

// Marian's golden models have lists of words, which its SentencePiece vocabularies cannot be.
TEST(WriteModels, NamesTheFieldThatHasNoEqual) {
  TemporaryFolder folder;
  const ModelFile opennmt = open_model(golden("ct2_opennmt"));
  EXPECT_THAT(complaint(write_huggingface, opennmt, folder / "hf"),
              HasSubstr("its 'norm' is \"pre\", which cannot be written for MarianMT of transformers (only \"post\")"));
  EXPECT_FALSE(fs::exists(folder / "hf"));
  const ConvertedModel marian = *read_ctranslate2(golden("ct2_marian"), {});
  ModelConfig config = marian.config;
  config.attention.window = 3;
  const ModelFile windowed = ModelFile::in_memory("m", config, marian.vocabularies, marian.weights);
  EXPECT_THAT(complaint(write_ctranslate2, windowed, folder / "ct2"), HasSubstr("m: its 'attention_window' is 3"));
  EXPECT_FALSE(fs::exists(folder / "ct2"));
}

TEST(WriteModels, TakesTheNameOfAFolderWithASlash) {
  TemporaryFolder folder;
  EXPECT_EQ(complaint(write_ctranslate2, open_model(golden("ct2_marian")), folder / "new/"), "");
  EXPECT_TRUE(fs::exists(folder / "new/model.bin"));
}

TEST(WriteModels, OverwritesNothingAndLeavesNothingBehind) {
  TemporaryFolder folder;
  const ModelFile model = open_model(golden("ct2_marian"));
  folder.make("there", "mine");
  EXPECT_THAT(complaint(write_ctranslate2, model, folder / "there"), HasSubstr("already exists"));
  EXPECT_EQ(read_file(folder / "there"), "mine");
  EXPECT_THAT(complaint(write_ctranslate2, model, folder / "there/"), HasSubstr("already exists"));
  EXPECT_THAT(complaint(write_ctranslate2, model, folder / "none/ct2"), HasSubstr(": there is no folder "));
  EXPECT_THAT(complaint(write_huggingface, model, folder / "hf"), HasSubstr("has no SentencePiece model"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator()), 1);
}

TEST(WriteModels, NameTheFileByItsFinalPathWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const ModelFile model(save_toy_model(folder / "ours", 1));
  for (const Write write : {write_ctranslate2, write_onnx}) {
    int failures = 0;
    for (;; ++failures) {
      const FailingCalls failing(failures + 1);
      const std::string said = complaint(write, model, folder / "theirs");
      if (!failed) break;
      EXPECT_THAT(said, AllOf(StartsWith(folder / "theirs/"), HasSubstr("No space left"), Not(HasSubstr(".tmp-"))));
      EXPECT_EQ(folder.files(), 1);
    }
    EXPECT_GE(failures, 12);  // open, write, sync and close of each of several files
    fs::remove_all(folder / "theirs");
  }
}

}  // namespace
}  // namespace dragoman
