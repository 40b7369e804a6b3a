#include "interop/joeynmt.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "interop/model_parts.h"
#include "interop/open_model.h"
#include "tests/interop/golden_folder.h"
#include "tests/source_dir.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class JoeyNmt : public GoldenFolder {
 protected:
  JoeyNmt() : GoldenFolder("joeynmt", "config.yaml") {
    folder.make("m/bpe.spm", read_file(source_dir() + "/tests/vocab/golden/bpe.spm"));
  }
};

class JoeyNmtOfWords : public GoldenFolder {
 protected:
  JoeyNmtOfWords() : GoldenFolder("joeynmt_words", "config.yaml") {}
};

TEST_F(JoeyNmt, GivesTheProbabilitiesAndTranslationsThatJoeyNmtGives) {
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  expect_greedy_translations(1);
}

TEST_F(JoeyNmtOfWords, GivesTheProbabilitiesAndTranslationsThatJoeyNmtGives) {
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  EXPECT_LT(score_difference(open_model(path() + "/best.ckpt"), pairs()), 1e-5);
  expect_greedy_translations(1);
}

TEST_F(JoeyNmt, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.positions = Positions::sinusoidal; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::relu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_heads = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.norm = NormPlacement::post, c.final_norm = FinalNorm::always; }), 1e-3);
}

TEST_F(JoeyNmtOfWords, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::gelu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.norm_epsilon = 1e-2; }), 1e-3);
}

// Special tokens, then tags of languages, then the tokens of the file, each once.
TEST_F(JoeyNmt, NumbersTokensAsJoeyNmtDoes) {
  const ModelFile file = open_model(path());
  const auto& [source, target] = file.vocabularies();
  EXPECT_EQ(source.size(), 47);
  EXPECT_EQ(target.size(), 42);
  for (const Vocabulary* v : {&source, &target})
    for (const auto& [id, piece] :
         {std::pair(0, "UNK"), {1, "<pad>"}, {2, "<s>"}, {3, "</s>"}, {4, "<sep>"}, {5, "<en>"}, {6, "<de>"}})
      EXPECT_EQ(v->piece(id), piece);
  const std::string list = sound("src_vocab.txt");
  EXPECT_EQ(source.piece(7), list.substr(0, list.find('\n')));
  EXPECT_THAT(file.config().generation.suppressed, ElementsAre(4, 5, 6));
  EXPECT_TRUE(file.config().generation.source_eos);
}

TEST_F(JoeyNmtOfWords, EndsLinesOfAListWherePythonDoes) {
  folder.make("m/src_vocab.txt", "a\xe2\x80\xa8small\r\ndog\rthe\n\xc2\x85house\x0bof\na\nb\nc\nd\n");
  const Vocabulary source = open_model(path()).vocabularies().source;
  ASSERT_EQ(source.size(), 14);
  EXPECT_EQ(source.piece(5), "small");
  EXPECT_EQ(source.piece(7), "the");
  EXPECT_EQ(source.piece(8), "");
  EXPECT_EQ(source.piece(10), "of");
}

TEST_F(JoeyNmtOfWords, SplitsTextAtBlanksOrByWhatItIsGiven) {
  EXPECT_THAT(open_model(path()).vocabularies().source.encode("a dog sleeps"), ElementsAre(4, 6, 0));
  const std::string merges = folder.make("codes", "#version: 0.2\nd o\ndo g</w>\n");
  EXPECT_THAT(open_model(path(), {.vocabs = {merges, merges}}).vocabularies().source.encode("dog a"),
              ElementsAre(6, 4));
  std::filesystem::rename(path() + "/src_vocab.txt", folder / "s.txt");
  EXPECT_THAT(complaint(), HasSubstr("src_vocab.txt"));
  const OpenOptions lists{.vocabs = {folder / "s.txt", path() + "/trg_vocab.txt"}};
  EXPECT_THAT(open_model(path(), lists).vocabularies().source.encode("the cat"), ElementsAre(7, 11));
}

TEST_F(JoeyNmtOfWords, SplitsTextByTheMergesOfItsConfiguration) {
  replace("config.yaml", "level: word",
          "level: bpe\n    tokenizer_type: subword-nmt\n    tokenizer_cfg: {codes: elsewhere/merges.txt}");
  folder.make("m/merges.txt", "#version: 0.2\nd o\ndo g</w>\n");
  EXPECT_THAT(open_model(path()).vocabularies().source.encode("dog a"), ElementsAre(6, 4));
}

TEST_F(JoeyNmtOfWords, TakesTheLatestCheckpointIfNoneIsTheBest) {
  std::filesystem::rename(path() + "/best.ckpt", path() + "/7.ckpt");
  EXPECT_EQ(complaint(), "");
  folder.make("m/8.ckpt", "broken");
  EXPECT_THAT(complaint(), EndsWith("m has 2 checkpoints, none of which is best.ckpt or latest.ckpt"));
  std::filesystem::rename(path() + "/7.ckpt", path() + "/latest.ckpt");
  EXPECT_EQ(complaint(), "");
  std::filesystem::remove(path() + "/latest.ckpt");
  std::filesystem::remove(path() + "/8.ckpt");
  EXPECT_THAT(complaint(), EndsWith("m has config.yaml of JoeyNMT but no checkpoint (.ckpt)"));
}

TEST_F(JoeyNmtOfWords, NeedsTheConfigurationOfACheckpoint) {
  std::filesystem::remove(path() + "/config.yaml");
  EXPECT_FALSE(read_joeynmt(path(), {}));
  EXPECT_THAT([&] { open_model(path() + "/best.ckpt"); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("m/best.ckpt is a checkpoint of JoeyNMT without the config.yaml that describes it")));
}

TEST_F(JoeyNmt, RefusesByNameWhatDragomanLacks) {
  for (const auto& [old, by, said] :
       {std::tuple("type: transformer", "type: recurrent", "model.encoder: type is recurrent, expected transformer"),
        {"dropout: 0.1", "alpha: 1.5", "model.encoder: alpha is 1.5, expected 1"},
        {"xavier_uniform", "xavier_normal",
         "config.yaml: model: initializer is xavier_normal, with which JoeyNMT scales"},
        {"layer_norm: pre", "layer_norms: pre", "model.encoder has no layer_norm, expected pre or post on both sides"},
        {"activation: gelu", "activation: tanh", "model.encoder: activation is tanh, which dragoman does not support"},
        {"level: bpe", "level: char", "data.src: level is char, expected word or bpe"},
        {"type: sentencepiece", "type: wordpiece", "data.src: tokenizer_type is wordpiece, expected sentencepiece"},
        {"lang: en", "has_prompt: true", "data.src: has_prompt is set, which dragoman does not support"},
        {"sep_id: 4", "bos_id: 4", "data.special_symbols: bos_id is 4, expected 2"},
        {"num_layers: 2", "num_layers: two", "model.encoder.num_layers is two, expected an integer"},
        {"tied_embeddings: false", "tied_embeddings: true", "tied_embeddings is set, but the vocabularies differ"},
        {"num_layers: 2", "num_layers: 3", "has no tensor encoder.layers.2."},
        {"num_layers: 2", "num_layers: 1", "tensor encoder.layers.1.feed_forward.layer_norm.bias is not part of"},
        {"hidden_size: 8", "hiding_size: 8", "model.encoder has no hidden_size"}})
    EXPECT_THAT(complaint_if(old, by), HasSubstr(said)) << by;
}

// The defaults of JoeyNMT 2.3 (encoders.py, decoders.py): pre without a norm at the end, and post.
TEST_F(JoeyNmtOfWords, NeedsThePlacementOfNormsOfTheEncoderOnly) {
  const std::string text = sound("config.yaml"), option = "    layer_norm: post\n";
  const auto without = [&](size_t at) { return std::string(text).erase(at, option.size()); };
  folder.make("m/config.yaml", without(text.rfind(option)));
  EXPECT_LT(score_difference(open_model(path()), pairs()), 1e-5);
  folder.make("m/config.yaml", without(text.find(option)));
  EXPECT_THAT(complaint(), HasSubstr("model.encoder has no layer_norm, expected pre or post on both sides"));
}

TEST_F(JoeyNmt, SaysThatThePlacementOfNormsOfTheDecoderIsADefault) {
  std::string text = sound("config.yaml");
  const std::string option = "    layer_norm: pre\n";
  folder.make("m/config.yaml", text.erase(text.rfind(option), option.size()));
  EXPECT_THAT(complaint(),
              HasSubstr("model.decoder: layer_norm is post by default, expected that of the encoder, pre"));
}

TEST_F(JoeyNmt, NamesTheFileThatIsBrokenOrMissing) {
  EXPECT_THAT(complaint_if("name: small", "name: {"), HasSubstr("m/config.yaml, line "));
  folder.make("m/bpe.spm", "broken");
  EXPECT_THAT(complaint(), HasSubstr("m/bpe.spm is text, expected a SentencePiece model"));
  std::filesystem::remove(path() + "/bpe.spm");
  EXPECT_THAT(complaint(), HasSubstr("m/bpe.spm"));
}

TEST_F(JoeyNmt, NamesTheListThatHasOtherPiecesThanTheModel) {
  folder.make("m/src_vocab.txt", sound("src_vocab.txt") + "another\n");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("its source embedding has 47 rows, but the vocabulary has 48 pieces ("),
                                 HasSubstr("src_vocab.txt")));
}

TEST_F(JoeyNmt, IsRefusedIfAPartIsMissing) {
  const std::string whole = sound("100.ckpt");
  for (size_t size = 0; size < whole.size(); size += 211) {
    folder.make("m/100.ckpt", whole.substr(0, size));
    EXPECT_THROW(open_model(path()), Error) << size;
  }
}

TEST_F(JoeyNmt, KeepsItsPartsFromBeingOverwritten) {
  const std::vector<std::string> parts = parts_of_models({path()});
  for (const char* part : {"m/100.ckpt", "m/config.yaml", "m/src_vocab.txt", "m/de.txt", "m/bpe.spm"})
    EXPECT_THAT(parts, Contains(EndsWith(part)));
  EXPECT_THAT(parts_of_models({path() + "/100.ckpt"}), Contains(EndsWith("m/src_vocab.txt")));
}

TEST(JoeyNmtFiles, AreAFolderOrACheckpoint) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_joeynmt(folder / "", {}));
  EXPECT_FALSE(read_joeynmt(folder / "m.ckpt", {}));
  EXPECT_FALSE(read_joeynmt(folder.make("m.ckpt", "text"), {}));
  folder.make("config.yaml", "model: 1\n");
  EXPECT_FALSE(read_joeynmt(folder / "", {}));
  EXPECT_FALSE(read_joeynmt(source_dir() + "/tests/interop/golden/fairseq/checkpoint_best.pt", {}));
}

}  // namespace
}  // namespace dragoman
