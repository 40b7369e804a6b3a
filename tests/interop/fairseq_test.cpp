#include "interop/fairseq.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "decode/beam_search.h"
#include "interop/open_model.h"
#include "model/frame.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A golden checkpoint with its dictionaries.
class FairseqFolder : public testing::Test {
 protected:
  explicit FairseqFolder(const std::string& name) : name_(name) {
    for (const char* file : {"checkpoint_best.pt", "dict.en.txt", "dict.de.txt"}) folder.make(file, read(file));
  }
  std::string path() const { return folder / "checkpoint_best.pt"; }
  std::string read(const std::string& file) const {
    return read_file(source_dir() + "/tests/interop/golden/" + name_ + "/" + file);
  }
  // Replaces bytes of the checkpoint by as many others.
  void replace(const std::string& old, const std::string& by) {
    ASSERT_EQ(old.size(), by.size());
    std::string bytes = read("checkpoint_best.pt");
    size_t count = 0;
    for (size_t at = 0; (at = bytes.find(old, at)) != bytes.npos; ++count) bytes.replace(at, old.size(), by);
    ASSERT_GT(count, 0) << old;
    folder.make("checkpoint_best.pt", bytes);
  }
  std::string complaint(const OpenOptions& options = {}) const {
    try {
      open_model(path(), options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  double changed(void (*change)(ModelConfig&)) const {
    const ConvertedModel model = *read_fairseq(path(), {});
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), golden_pairs());
  }
  std::vector<ReferenceScore> golden_pairs() const;
  void expect_searches() const;
  void expect_errors_for_parts() const;

  TemporaryFolder folder;

 private:
  const std::string name_;
};

std::vector<ReferenceScore> FairseqFolder::golden_pairs() const { return reference_scores(read("pairs.ids")); }

// The two best of four beams, as SequenceGenerator finds them.
void FairseqFolder::expect_searches() const {
  Arena arena;
  const ModelFile file = open_model(path());
  const LoadedModel loaded = load_model(file, backend("cpu"), arena);
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
  std::istringstream text(read("search.ids"));
  int lines = 0;
  for (std::string source, scores[2], ids[2];
       std::getline(text, source, '\t') && std::getline(text, scores[0], '\t') && std::getline(text, ids[0], '\t') &&
       std::getline(text, scores[1], '\t') && std::getline(text, ids[1]);
       ++lines) {
    const std::vector<int32_t> pieces = numbers(source);
    const SearchOptions options{
        .beam_size = 4, .rule = file.config().generation.search_rule, .max_length_add = 5, .n_best = 2};
    const auto found = beam_search(cx, *loaded.model, options, 1000, {&pieces, 1})[0];
    ASSERT_EQ(found.size(), 2) << source;
    for (size_t rank : {0, 1}) {
      EXPECT_EQ(found[rank].ids, numbers(ids[rank])) << source << " #" << rank;
      EXPECT_NEAR(found[rank].score, std::stod(scores[rank]), 1e-5) << source << " #" << rank;
    }
  }
  EXPECT_EQ(lines, 8);
}

// Parts of archives that hold nothing of the model may be missing.
void FairseqFolder::expect_errors_for_parts() const {
  const std::string whole = read("checkpoint_best.pt");
  const TemporaryFolder parts;
  for (const char* file : {"dict.en.txt", "dict.de.txt"}) parts.make(file, read(file));
  size_t refused = 0, tried = 0;
  for (size_t size = 0; size < whole.size(); size += 97, ++tried) {
    try {
      const auto model = read_foreign_model(parts.make("checkpoint_best.pt", whole.substr(0, size)));
      if (!model) ++refused;
      if (model)
        for (const TensorEntry& weight : model->weights) weight.make();
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_EQ(refused, tried);
}

class Fairseq : public FairseqFolder {
 protected:
  Fairseq() : FairseqFolder("fairseq") {}
};

class OldFairseq : public FairseqFolder {
 protected:
  OldFairseq() : FairseqFolder("fairseq_old") {
    folder.make("sentencepiece.bpe.model", read_file(source_dir() + "/tests/vocab/golden/bpe.spm"));
  }
};

TEST_F(Fairseq, GivesTheProbabilitiesAndTranslationsThatFairseqGives) {
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
  expect_searches();
}

TEST_F(OldFairseq, GivesTheProbabilitiesAndTranslationsThatFairseqGives) {
  EXPECT_LT(score_difference(open_model(path()), golden_pairs()), 1e-5);
  expect_searches();
}

TEST_F(Fairseq, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::bos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.activation = Activation::relu; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_heads = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.norm = NormPlacement::post, c.final_norm = FinalNorm::always; }), 1e-3);
}

TEST_F(OldFairseq, GivesOthersIfAFormulaIsAnother) {
  EXPECT_GT(changed([](ModelConfig& c) { c.position_spacing = PositionSpacing::paper; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 0; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::bos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
}

TEST_F(Fairseq, TakesDictionariesFromWhereTheyAre) {
  EXPECT_THAT(open_model(path()).vocabularies().source.encode("a dog"), ElementsAre(4, 6));
  std::filesystem::rename(folder / "dict.de.txt", folder / "other.txt");
  EXPECT_THAT(complaint(), HasSubstr("dict.de.txt: there is no such file; it lists the pieces of "));
  const OpenOptions named{.vocabs = {folder / "dict.en.txt", folder / "other.txt"}};
  EXPECT_EQ(open_model(path(), named).vocabularies().target.piece(12), "ein");
}

TEST_F(Fairseq, NamesTheDictionaryThatHasOtherPiecesThanTheModel) {
  const std::string english = folder / "dict.en.txt", german = folder / "dict.de.txt";
  EXPECT_THAT(complaint({.vocabs = {german, english}}),
              HasSubstr("its source embedding has 12 rows, but the vocabulary has 15 pieces (" + german + ")"));
  folder.make("dict.de.txt", read("dict.de.txt") + "another 1\n");
  EXPECT_THAT(complaint(), HasSubstr("its target embedding has 15 rows, but the vocabulary has 16 pieces"));
}

TEST_F(Fairseq, SplitsTextByMerges) {
  const std::string merges = "d o 9\ndo g</w> 8\n";  // of fastBPE
  folder.make("dict.en.txt", "dog 1\nd@@ 1\no@@ 1\nt 1\na 1\nh 1\no 1\ne 1\n");
  folder.make("bpecodes", merges);
  EXPECT_THAT(open_model(path()).vocabularies().source.encode("dog dot"), ElementsAre(4, 3, 7));
  const OpenOptions named{.vocabs = {folder.make("codes", "#version: 0.2\nd o\ndo t</w>\n"), folder / "codes"}};
  std::filesystem::remove(folder / "bpecodes");
  EXPECT_THAT(open_model(path(), named).vocabularies().source.encode("dot t"), ElementsAre(3, 7));
}

// subword-nmt's begin with a version; fastBPE's are known by their names.
TEST_F(Fairseq, RecognisesMergesByTheirVersion) {
  folder.make("dict.en.txt", "dog 1\nd@@ 1\no@@ 1\nt 1\na 1\nh 1\no 1\ne 1\n");
  const std::string merges = "#version: 0.2\nd o\ndo g</w>\n", fast = "d o 9\ndo g</w> 8\n";
  const std::string path_of_merges = folder.make("bpe.32000", merges);
  const OpenOptions named{.vocabs = {path_of_merges, path_of_merges}};
  EXPECT_THAT(open_model(path(), named).vocabularies().source.encode("dog t"), ElementsAre(4, 7));
  for (const std::string usual : {"codes", "bpe.codes"})
    for (const std::string& text : {merges, fast}) {
      folder.make(usual, text);
      EXPECT_THAT(open_model(path()).vocabularies().source.encode("dog t"), ElementsAre(4, 7)) << usual;
      std::filesystem::remove(folder / usual);
    }
  folder.make("sentencepiece.bpe.model", merges);
  EXPECT_THAT(open_model(path()).vocabularies().source.encode("dog t"), ElementsAre(4, 7));
}

TEST_F(OldFairseq, SplitsTextBySentencePiece) {
  const Vocabulary source = open_model(path()).vocabularies().source;
  EXPECT_EQ(source.size(), 64);
  EXPECT_EQ(source.piece(2), "</s>");
  int known = 0;
  for (const int32_t id : source.encode("a small dog and the house of a man")) known += id != 3;
  EXPECT_GT(known, 0);
}

TEST_F(OldFairseq, NamesTheSentencePieceModelThatIsBroken) {
  const std::string path = folder.make("sentencepiece.bpe.model", "broken");
  EXPECT_EQ(complaint(), path + " is text, expected a SentencePiece model");
}

TEST_F(OldFairseq, RefusesByNameWhatIsAnotherModel) {
  replace("transformer", "translator_");
  EXPECT_THAT(complaint(), HasSubstr("checkpoint_best.pt: args: arch is translator_, expected transformer"));
  replace("translation", "languagemod");
  EXPECT_THAT(complaint(), HasSubstr("the task is languagemod, expected translation"));
  replace("relu", "mish");
  EXPECT_THAT(complaint(), HasSubstr("activation_fn is mish, which dragoman does not support"));
  replace("encoder.layers.1.fc2.bias", "encoder.layers.1.fc3.bias");
  EXPECT_THAT(complaint(), HasSubstr("has no tensor encoder.layers.1.fc2.bias"));
  replace("encoder.version", "encoder.gatings");
  EXPECT_THAT(complaint(), HasSubstr("tensor encoder.gatings is not part of the model"));
}

TEST_F(OldFairseq, RefusesByNameWhatDragomanLacks) {
  const std::string off = "\x89", on = "\x88";
  const std::string bytes = read("checkpoint_best.pt");
  for (const std::string option : {"cross_self_attention", "no_cross_attention", "adaptive_input"}) {
    // The name, its place in the memo, and False.
    const size_t at = bytes.find(option);
    ASSERT_NE(at, bytes.npos);
    const size_t value = bytes.find_first_of(off + on, at);
    std::string changed = bytes;
    changed[value] = on[0];
    folder.make("checkpoint_best.pt", changed);
    EXPECT_THAT(complaint(), HasSubstr("args: " + option + " is set, which dragoman does not support"));
  }
}

TEST_F(Fairseq, IsRefusedIfAPartIsMissing) { expect_errors_for_parts(); }

TEST_F(OldFairseq, IsRefusedIfAPartIsMissing) { expect_errors_for_parts(); }

TEST(FairseqCheckpoint, IsAFileOfTorchWithOptions) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_fairseq(folder / "", {}));
  EXPECT_FALSE(read_fairseq(folder / "m.pt", {}));
  EXPECT_FALSE(read_fairseq(folder.make("m.pt", "text"), {}));
  EXPECT_FALSE(read_fairseq(source_dir() + "/tests/interop/golden/torch/state.pt", {}));
}

}  // namespace
}  // namespace dragoman
