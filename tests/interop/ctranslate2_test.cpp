#include "interop/ctranslate2.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "tests/interop/ctranslate2_folder.h"

namespace dragoman {
namespace {

using namespace ctranslate2_folders;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(OpenModel, TakesTwoVocabulariesOrNone) {
  for (const char* model : {"ct2_marian", "fairseq/checkpoint_best.pt", "opennmt/model_step_100.pt"})
    for (const std::vector<std::string>& vocabs : {std::vector<std::string>{"a"}, {"a", "b", "c"}})
      EXPECT_THAT(complaint(golden(model), {.vocabs = vocabs}),
                  HasSubstr(fmt::format("--vocabs takes two files, source and target, found {}", vocabs.size())));
}

TEST(OpenModel, NamesAPathThatCannotBeRead) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_THAT(complaint(folder / "loop"), AllOf(HasSubstr(folder / "loop"), HasSubstr("symbolic links")));
  EXPECT_THAT(complaint(folder / std::string(300, 'x')), HasSubstr("name too long"));
}

class CTranslate2 : public testing::TestWithParam<const char*> {};

TEST_P(CTranslate2, GivesTheProbabilitiesAndTranslationsOfTheProgram) {
  const ModelFile file = open_model(golden(GetParam()));
  EXPECT_LT(score_difference(file, golden_pairs(file, GetParam())), 1e-5);
  expect_searches(file, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Folders, CTranslate2, testing::Values("ct2_marian", "ct2_opennmt"));

TEST(CTranslate2Model, GivesOthersIfAFormulaIsAnother) {
  for (const char* folder : {"ct2_marian", "ct2_opennmt"}) {
    const ConvertedModel model = *read_ctranslate2(golden(folder), {});
    const auto pairs = golden_pairs(open_model(golden(folder)), folder);
    const auto changed = [&](void (*change)(ModelConfig&)) {
      ModelConfig config = model.config;
      change(config);
      return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), pairs);
    };
    EXPECT_GT(changed([](ModelConfig& c) {
                c.position_spacing = c.position_spacing == PositionSpacing::paper ? PositionSpacing::tensor2tensor
                                                                                  : PositionSpacing::paper;
              }),
              1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 1 - c.first_position; }), 1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
    EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  }
}

// As it was trained, text of OpenNMT has no </s> behind a source; a line that is empty still has a token.
TEST(CTranslate2Model, SaysWhatStandsAroundSentences) {
  const ModelConfig marian = open_model(golden("ct2_marian")).config(),
                    opennmt = open_model(golden("ct2_opennmt")).config();
  EXPECT_EQ(marian.decoder_start, DecoderStart::zero);
  EXPECT_THAT(source_frame(marian).after, ElementsAre(0));
  EXPECT_EQ(opennmt.decoder_start, DecoderStart::bos);
  EXPECT_THAT(source_frame(opennmt).around({7}), ElementsAre(7));
  EXPECT_THAT(source_frame(opennmt).around({}), ElementsAre(2));
  EXPECT_EQ(opennmt.generation.search_rule, SearchRule::ctranslate2);
}

TEST(CTranslate2Model, KeepsItsEightBits) {
  const ModelFile file = open_model(golden("ct2_opennmt"));
  EXPECT_EQ(file.tensors().get("encoder.0.self_attention.key.weight").dtype, DType::i8);
  EXPECT_EQ(file.stored_type(), DType::i8);
}

std::string text_variable(const std::string& name, const std::string& text) {
  return variable_name(name) + '\1' + number(uint32_t(text.size())) + '\1' + number(uint32_t(text.size())) + text;
}

std::string renamed(std::string bytes, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = bytes.find(variable_name(from), at)) != bytes.npos; at += variable_name(to).size())
    bytes.replace(at, variable_name(from).size(), variable_name(to));
  return bytes;
}

// As CTranslate2 wrote model.bin before version 6: with one source table, and with what config.json says now.
std::string in_version_5(std::string bytes, const std::vector<std::string>& settings) {
  const size_t count = 4 + variable_name("TransformerSpec").size() + 4;
  uint32_t variables = 0;
  std::memcpy(&variables, bytes.data() + count, 4);
  std::string added;
  for (const std::string& s : settings) added += s;
  bytes.replace(count, 4, number(uint32_t(variables + settings.size())) + added);
  bytes.replace(0, 4, number(uint32_t(5)));
  return renamed(bytes, "encoder/embeddings_0/weight", "encoder/embeddings/weight");
}

TEST(CTranslate2Model, MayBeOfAnOlderVersion) {
  const std::string marian = read_file(golden("ct2_marian/model.bin"));
  const std::vector<std::string> tokens = {text_variable("unk_token", "<unk>"), text_variable("eos_token", "</s>"),
                                           text_variable("bos_token", "<s>"), flag("with_source_bos", false)};
  auto settings = tokens;
  settings.push_back(flag("with_source_eos", true)), settings.push_back(flag("with_target_bos", false));
  Copy copy("ct2_marian");
  std::filesystem::remove(copy.folder / "config.json");
  copy.folder.make("model.bin", in_version_5(marian, settings));
  const ModelFile file = open_model(copy.folder / "");
  EXPECT_EQ(file.config().decoder_start, DecoderStart::zero);
  EXPECT_LT(score_difference(file, golden_pairs(file, "ct2_marian")), 1e-5);
  expect_searches(file, "ct2_marian");

  Copy opennmt("ct2_opennmt");
  opennmt.folder.make("config.json", R"({"layer_norm_epsilon": 1e-6})");
  opennmt.folder.make("model.bin", renamed(in_version_5(read_file(golden("ct2_opennmt/model.bin")), {}),
                                           "encoder/embeddings_0/weight_scale", "encoder/embeddings/weight_scale"));
  const ModelFile other = open_model(opennmt.folder / "");
  EXPECT_EQ(other.config().decoder_start, DecoderStart::bos);
  EXPECT_FALSE(other.config().generation.source_eos);
  EXPECT_LT(score_difference(other, golden_pairs(other, "ct2_opennmt")), 1e-5);
}

TEST(CTranslate2Model, ReadsTheSettingsOfAnOlderVersion) {
  const std::string bytes = renamed(read_file(golden("ct2_opennmt/model.bin")), "encoder/embeddings_0/weight_scale",
                                    "encoder/embeddings/weight_scale");
  Copy copy("ct2_opennmt");
  std::filesystem::remove(copy.folder / "config.json");
  copy.folder.make("model.bin", in_version_5(bytes, {flag("with_source_bos", true), flag("with_source_eos", true),
                                                     text_variable("bos_token", "b")}));
  const ModelConfig config = open_model(copy.folder / "").config();
  EXPECT_TRUE(config.generation.source_bos && config.generation.source_eos);
  EXPECT_EQ(config.special.bos, 5);
  EXPECT_EQ(config.decoder_start, DecoderStart::bos);
  copy.folder.make("model.bin", in_version_5(bytes, {flag("with_target_bos", false)}));
  EXPECT_EQ(open_model(copy.folder / "").config().decoder_start, DecoderStart::eos);
  copy.folder.make("model.bin", in_version_5(bytes, {flag("user_decoder_start_tokens", true)}));
  EXPECT_THAT(complaint(copy.folder / ""), HasSubstr("model.bin: decoder_start_token is null"));
}

std::string without_variables(const std::string& bytes, const std::string& ending) {
  const size_t count = 4 + variable_name("TransformerSpec").size() + 4;
  const auto read = [&]<class T>(size_t at, T value) {
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return size_t(value);
  };
  std::string kept;
  uint32_t left = 0;
  size_t at = count + 4;
  for (size_t v = read(count, uint32_t()); v-- > 0;) {
    const size_t length = read(at, uint16_t()), rank = read(at + 2 + length, uint8_t()),
                 size = at + 4 + length + 4 * rank, next = size + 4 + read(size, uint32_t());
    if (!bytes.substr(at + 2, length - 1).ends_with(ending)) kept += bytes.substr(at, next - at), ++left;
    at = next;
  }
  return bytes.substr(0, count) + number(left) + kept + bytes.substr(at);
}

// CTranslate2's norms have another epsilon if they are root mean squares.
TEST(CTranslate2Model, HasTheEpsilonOfItsNorms) {
  Copy copy("ct2_opennmt");
  copy.folder.make("config.json", R"({"decoder_start_token": "<s>"})");
  EXPECT_EQ(open_model(copy.folder / "").config().norm_epsilon, 1e-5);
  copy.folder.make("model.bin", without_variables(read_file(golden("ct2_opennmt/model.bin")), "/beta"));
  EXPECT_EQ(open_model(copy.folder / "").config().norm_kind, NormKind::rms);
  EXPECT_EQ(open_model(copy.folder / "").config().norm_epsilon, 1e-6);
  copy.folder.make("config.json", R"({"decoder_start_token": "<s>", "layer_norm_epsilon": 0.001})");
  EXPECT_EQ(open_model(copy.folder / "").config().norm_epsilon, 1e-3);
}

TEST(CTranslate2Model, TranslatesBetweenLanguagesIfSeveralPiecesNameThem) {
  Copy copy("ct2_marian");
  copy.replace("shared_vocabulary.json", "\"c\"", "\"en_US\"");
  EXPECT_EQ(open_model(copy.folder / "").config().generation.target_language, TargetLanguage::none);
  EXPECT_EQ(open_model(copy.folder / "").vocabularies().target.decode(std::vector<int32_t>{4}), "en_US");
  copy.replace("shared_vocabulary.json", "\"d\"", "\"de_DE\"");
  EXPECT_EQ(open_model(copy.folder / "").config().generation.target_language, TargetLanguage::target);
}

TEST(CTranslate2Model, IsRefusedByNameWhereDragomanHasNoEqual) {
  Copy copy("ct2_opennmt");
  copy.replace("config.json", "\"<s>\",\n  \"eos", "null,\n  \"eos");
  EXPECT_THAT(complaint(copy.folder / ""), HasSubstr("decoder_start_token is null"));
  Copy other("ct2_marian");
  other.replace("model.bin", "TransformerSpec", "TransforgetSpec");
  EXPECT_THAT(complaint(other.folder / ""), HasSubstr("kind TransforgetSpec, expected TransformerSpec"));
  Copy renamed("ct2_marian");
  renamed.replace("model.bin", "layer_0/ffn/linear_1/weight", "layer_0/ffn/linear_x/weight");
  EXPECT_THAT(complaint(renamed.folder / ""), HasSubstr("has no tensor decoder/layer_0/ffn/linear_1/weight"));
  Copy unnumbered("ct2_marian");
  unnumbered.replace("shared_vocabulary.json", "\"</s>\",", "");
  EXPECT_THAT(complaint(unnumbered.folder / ""), HasSubstr("a token list has no </s>"));
}

TEST(CTranslate2Model, NamesTheListThatHasOtherPiecesThanTheModel) {
  Copy target("ct2_opennmt"), shared("ct2_marian");
  target.replace("target_vocabulary.json", "\"z\"", "\"z\", \"more\", \"pieces\"");
  EXPECT_THAT(complaint(target.folder / ""),
              HasSubstr("its target embedding has 30 rows, but the vocabulary has 32 pieces (target_vocabulary.json)"));
  shared.replace("shared_vocabulary.json", "]", ", \"more\", \"pieces\"]");
  EXPECT_THAT(complaint(shared.folder / ""),
              HasSubstr("its source embedding has 42 rows, but the vocabulary has 44 pieces (shared_vocabulary.json)"));
}

// Such a shape needs no bytes in the file, but a bias of as many rows would take 16 GiB.
TEST(CTranslate2Model, IsRefusedIfAMatrixIsEmpty) {
  std::string bytes = read_file(golden("ct2_marian/model.bin"));
  const std::string name = "decoder/layer_0/attention/linear_2/weight";
  const size_t shape = bytes.find(name) + name.size() + 2, size = shape + 9;  // after 0, the rank; before it, the type
  uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + size, sizeof(stored));
  bytes.erase(size + 4, stored);
  bytes.replace(shape, 8, std::string("\xff\xff\xff\xff\0\0\0\0", 8)).replace(size, 4, 4, '\0');
  Copy copy("ct2_marian");
  copy.folder.make("model.bin", bytes);
  EXPECT_THAT(complaint(copy.folder / ""), HasSubstr(name + " is (4294967295,0), expected at least one row"));
}

// The same number in both sides, in float32, whatever its type was.
std::string with_number(std::string bytes, const std::string& name, float value) {
  for (const std::string side : {"encoder/", "decoder/"}) {
    const size_t type = bytes.find(side + name) + side.size() + name.size() + 2;  // after 0 and the rank
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + type + 1, sizeof(size));
    std::string stored("\0\4\0\0\0....", 9);
    std::memcpy(stored.data() + 5, &value, sizeof(value));
    bytes.replace(type, 5 + size, stored);
  }
  return bytes;
}

// Not every number of a file may be converted to an integer.
TEST(CTranslate2Model, IsRefusedIfACountIsNoWholeNumber) {
  const std::string bytes = read_file(golden("ct2_marian/model.bin"));
  Copy copy("ct2_marian");
  copy.folder.make("model.bin", with_number(with_number(bytes, "num_heads", 2), "activation", 2));
  EXPECT_EQ(complaint(copy.folder / ""), "");
  for (const std::string name : {"num_heads", "activation"})
    for (const float bad : {1e30f, -1e30f, -1.0f, 1.5f, std::numeric_limits<float>::infinity()}) {
      copy.folder.make("model.bin", with_number(bytes, name, bad));
      EXPECT_THAT(
          complaint(copy.folder / ""),
          HasSubstr(fmt::format("encoder/{} is {}, expected a whole number of at most 32767", name, double(bad))));
    }
  copy.folder.make("model.bin", with_number(bytes, "num_heads", std::numeric_limits<float>::quiet_NaN()));
  EXPECT_THAT(complaint(copy.folder / ""), HasSubstr("encoder/num_heads is nan, expected a whole number"));
}

TEST(CTranslate2Model, IsRefusedWhereverItIsCutOff) {
  const std::string whole = read_file(golden("ct2_marian/model.bin"));
  Copy copy("ct2_marian");
  for (size_t size = 32; size < whole.size(); size += 41) {
    copy.folder.make("model.bin", whole.substr(0, size));
    EXPECT_NE(complaint(copy.folder / ""), "") << size;
  }
}

void make_package(const TemporaryFolder& folder) {
  std::filesystem::create_directory(folder / "model");
  for (const auto& entry : std::filesystem::directory_iterator(golden("ct2_marian")))
    folder.make("model/" + entry.path().filename().string(), read_file(entry.path()));
}

// metadata.json and what splits text stand beside the model.
TEST(Argos, IsAFolderWithAModelInIt) {
  TemporaryFolder folder;
  make_package(folder);
  EXPECT_FALSE(read_ctranslate2(folder / "", {}));
  folder.make("metadata.json", "{}");
  folder.make("sentencepiece.model", read_file(source_dir() + "/tests/vocab/golden/bpe.spm"));
  const ModelFile file = open_model(folder / "");
  EXPECT_EQ(file.vocabularies().source.size(), 42);
  EXPECT_NE(file.vocabularies().source.encode("ab").size(), 0);
  EXPECT_NE(file.vocabularies().source.decode(std::vector<int32_t>{2, 3}), "a b");  // as tokens are joined
}

TEST(Argos, NamesTheSentencePieceModelThatIsBroken) {
  TemporaryFolder folder;
  make_package(folder);
  folder.make("metadata.json", "{}");
  const std::string path = folder.make("sentencepiece.model", "broken");
  EXPECT_EQ(complaint(folder / ""), path + " is text, expected a SentencePiece model");
}

TEST(Argos, NamesThePieceThatTranslationsBeginWith) {
  TemporaryFolder folder;
  make_package(folder);
  folder.make("metadata.json", R"({"target_prefix": ""})");
  EXPECT_EQ(open_model(folder / "").config().generation.target_language, TargetLanguage::none);
  const std::string piece = open_model(folder / "").vocabularies().target.piece(7);
  folder.make("metadata.json", R"({"target_prefix": ")" + piece + "\"}");
  const GenerationConfig generation = open_model(folder / "").config().generation;
  EXPECT_EQ(generation.target_language, TargetLanguage::target);
  EXPECT_EQ(generation.target_language_id, 7);
  EXPECT_EQ(generation.source_language, SourceLanguage::none);
  folder.make("metadata.json", R"({"target_prefix": "__klingon__"})");
  EXPECT_THAT(complaint(folder / ""), HasSubstr("target_prefix is __klingon__, which the vocabulary does not have"));
}

}  // namespace
}  // namespace dragoman
