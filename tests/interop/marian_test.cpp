#include "interop/marian.h"

#include <gmock/gmock.h>

#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "interop/marian_config.h"
#include "interop/marian_files.h"
#include "interop/open_model.h"
#include "tests/bytes_of.h"
#include "tests/error_of.h"
#include "tests/interop/golden.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> words = {golden("words.yml"), golden("words.yml")};

std::vector<ReferenceScore> pairs_of(const std::string& model, const Vocabularies& v) {
  std::istringstream text(read_file(golden("pairs.tsv"))), scores(read_file(golden(model + ".scores")));
  std::vector<ReferenceScore> pairs;
  for (std::string line; std::getline(text, line);) {
    const size_t tab = line.find('\t');
    ReferenceScore p{v.source.encode(line.substr(0, tab)), v.target.encode(line.substr(tab + 1)), 0};
    p.source.push_back(v.source.eos());
    p.target.push_back(v.target.eos());
    scores >> p.score;
    pairs.push_back(std::move(p));
  }
  return pairs;
}

class MarianModels : public testing::TestWithParam<const char*> {};

// tests/interop/golden/make_marian.py: models that Marian made, and what it says of them.
TEST_P(MarianModels, GiveTheProbabilitiesThatMarianGives) {
  const ModelFile file = open_model(golden(GetParam() + std::string(".npz")), {.vocabs = words});
  EXPECT_LT(score_difference(file, pairs_of(GetParam(), file.vocabularies())), 1e-5);
}

// As a program does that takes one formula for another: a golden file that could not tell would prove nothing.
TEST_P(MarianModels, GiveOthersIfAFormulaIsAnother) {
  const ConvertedModel model = *read_marian(golden(GetParam() + std::string(".npz")), words);
  const auto pairs = pairs_of(GetParam(), model.vocabularies);
  const auto changed = [&](void (*change)(ModelConfig&)) {
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), pairs);
  };
  EXPECT_GT(changed([](ModelConfig& c) { c.position_spacing = PositionSpacing::paper; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.first_position = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.decoder_start = DecoderStart::eos; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) { c.embeddings.scale = 1; }), 1e-3);
  EXPECT_GT(changed([](ModelConfig& c) {
              c.activation = c.activation == Activation::gelu ? Activation::gelu_sigmoid : Activation::gelu;
            }),
            1e-3);
}

INSTANTIATE_TEST_SUITE_P(Golden, MarianModels, testing::Values("tied", "ssru", "ssru_norm", "aan", "prenorm"));

TEST(MarianModel, IsTheSameInTheBinaryFormat) {
  const ConvertedModel npz = *read_marian(golden("tied.npz"), words), bin = *read_marian(golden("tied.bin"), words);
  ASSERT_EQ(npz.weights.size(), bin.weights.size());
  for (size_t i = 0; i < npz.weights.size(); ++i) {
    EXPECT_EQ(npz.weights[i].name, bin.weights[i].name);
    EXPECT_EQ(npz.weights[i].make(), bin.weights[i].make());
  }
}

TEST(MarianModel, IsAnArchiveOfArraysUnderAnyName) {
  const TemporaryFolder folder;
  const std::string model = folder.make("model.best-bleu", read_file(golden("tied.npz")));
  const ModelFile file = open_model(model, {.vocabs = words}),
                  usual = open_model(golden("tied.npz"), {.vocabs = words});
  EXPECT_EQ(file.tensors().metadata(), usual.tensors().metadata());  // with the checksum of all tensors
}

TEST(MarianModel, FindsItsVocabulariesInTheConfigurationsBesideIt) {
  const TemporaryFolder folder;
  folder.make("m.npz", read_file(golden("tied.npz")));
  folder.make("words.yml", read_file(words[0]));
  EXPECT_THROW(open_model(folder / "m.npz"), Error);
  folder.make("m.npz.decoder.yml", "relative-paths: true\nmodels:\n  - m.npz\nvocabs:\n  - words.yml\n  - words.yml\n");
  EXPECT_EQ(open_model(folder / "m.npz").vocabularies().target.size(), 20);
  EXPECT_EQ(open_model(folder / "m.npz.decoder.yml").vocabularies().target.size(), 20);
  folder.make("two.yml", "models: [m.npz, m.npz]\nvocabs: [words.yml, words.yml]\n");
  EXPECT_THROW(open_model(folder / "two.yml"), Error);
}

TEST(MarianModel, FindsFilesRelativeToItsConfigurationForEachWordOfYaml) {
  const TemporaryFolder folder;
  const auto vocab_of = [&](const std::string& word) {
    return find_marian_files(
               folder.make("decoder.yml", "models: [m.npz]\nvocabs: [a/v.yml]\nrelative-paths: " + word + "\n"))
        ->vocabs.at(0);
  };
  for (const char* word : {"true", "True", "yes", "on"}) EXPECT_EQ(vocab_of(word), folder / "a/v.yml") << word;
  for (const char* word : {"false", "No"}) EXPECT_EQ(vocab_of(word), "a/v.yml") << word;
  for (const char* word : {"maybe", "[true]", "~"})
    EXPECT_EQ(error_of([&] { vocab_of(word); }),
              folder / "decoder.yml: relative-paths: '" + word + "' is neither true nor false");
}

// Users of Marian may call the model as before, and still have the configuration that names it.
TEST(MarianModel, IsNoModelOfDragomanThatAConfigurationNames) {
  const TemporaryFolder folder;
  for (const std::string name : {"model.npz", "model.bin", "model.safetensors"}) {
    const std::string model = save_toy_model(folder / name, 1);
    const std::string file = folder.make("decoder.yml", "models: [" + name + "]\nrelative-paths: true\n");
    for (const std::string& path : {file, folder / ""})
      EXPECT_EQ(error_of([&] { open_model(path); }),
                file + " names " + model + ", which is a dragoman model, not a model of Marian");
    EXPECT_EQ(open_model(model).vocabularies().target.size(), toy_vocabulary().size());
  }
  write_safetensors(folder / "other.bin", {}, {});
  const std::string file = folder.make("other.yml", "models: [other.bin]\nrelative-paths: true\n");
  EXPECT_THAT(error_of([&] { open_model(file); }), HasSubstr("other.bin, which is a safetensors file, not"));
}

TEST(MarianModel, LooksFurtherIfAConfigurationBesideItNamesNothing) {
  const TemporaryFolder folder;
  folder.make("m.npz", read_file(golden("tied.npz")));
  folder.make("words.yml", read_file(words[0]));
  folder.make("m.npz.yml", "relative-paths: true\nvocabs: [words.yml, words.yml]\n");
  for (const char* nothing : {"", "# nothing\n", "- words.yml\n", "words\n", "beam-size: 6\n"}) {
    folder.make("decoder.yml", nothing);
    EXPECT_EQ(open_model(folder / "m.npz").vocabularies().target.size(), 20) << nothing;
    EXPECT_FALSE(find_marian_files(folder / "decoder.yml")) << nothing;
  }
}

TEST(MarianModel, NeedsTheVocabulariesThatItWasTrainedWith) {
  const TemporaryFolder folder;
  const std::string more = source_dir() + "/tests/vocab/golden/bpe.spm";
  EXPECT_THAT(error_of([&] {
                read_marian(golden("tied.npz"), {more, more});
              }),
              AllOf(HasSubstr("has 20 rows"), HasSubstr("340 pieces (" + more + ")")));
  const std::string fewer = folder.make("fewer.yml", "</s>: 0\n<unk>: 1\na: 2\n");
  EXPECT_EQ(read_marian(golden("tied.npz"), {fewer, fewer})->vocabularies.target.size(), 20);
}

// Marian reads dim-vocabs pieces of a list; here 20.
TEST(MarianModel, UsesTheFirstPiecesOfALongerList) {
  const TemporaryFolder folder;
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  const std::string more = folder.make("more.yml", read_file(words[0]) + "another: 20\nrare: 21\n");
  const Vocabularies v = read_marian(golden("tied.npz"), {words[0], more})->vocabularies;
  EXPECT_EQ(v.target.bytes(), v.source.bytes());
  EXPECT_EQ(said, more + ": only its first 20 of 22 pieces are used, as dim-vocabs of the model says");
}

uint64_t integer_at(const std::string& bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// tied.bin with another shape of its embeddings and as many zeros as that needs. Its items are described by
// (bytes of name, type, rank, bytes of data); then come names, shapes, padding and data.
std::string with_embeddings(int32_t rows, int32_t columns) {
  std::string bytes = read_file(golden("tied.bin"));
  const uint64_t items = integer_at(bytes, 8);
  size_t names = 16 + 32 * items, shapes = names, data = 0;
  for (uint64_t i = 0; i < items; ++i) shapes += integer_at(bytes, 16 + 32 * i);
  data = shapes;
  for (uint64_t i = 0; i < items; ++i) data += 4 * integer_at(bytes, 16 + 32 * i + 16);
  data += 8 + integer_at(bytes, data);
  for (uint64_t i = 0; i < items; ++i) {
    const size_t header = 16 + 32 * i, size = integer_at(bytes, header + 24);
    if (bytes.substr(names, 5) == std::string("Wemb\0", 5)) {
      const auto wanted = size_t(rows) * size_t(columns) * sizeof(float);
      bytes.insert(data + size, std::string(wanted > size ? wanted - size : 0, '\0'));
      bytes.replace(shapes, 8, bytes_of<int32_t>({rows, columns}));
      if (wanted > size) bytes.replace(header + 24, 8, bytes_of<uint64_t>({wanted}));
      return bytes;
    }
    names += integer_at(bytes, header), shapes += 4 * integer_at(bytes, header + 16), data += size;
  }
  return bytes;
}

// A file may claim any number of rows, each of which would become a piece.
TEST(MarianModel, IsRefusedIfItsEmbeddingsHaveFarMoreRowsThanPieces) {
  const TemporaryFolder folder;
  const auto complaint = [&](int32_t rows, int32_t columns) {
    const std::string path = folder.make("m.bin", with_embeddings(rows, columns));
    return error_of([&] { read_marian(path, words); });
  };
  EXPECT_THAT(complaint(2000000000, 0), HasSubstr("Wemb is (2000000000,0), expected 1 to 2147483647 rows of 8"));
  EXPECT_EQ(complaint(20 + 65536, 8), "");
  EXPECT_THAT(complaint(20 + 65537, 8),
              HasSubstr("its source embedding has 65557 rows, but the vocabulary has 20 pieces (" + words[0] + ")"));
}

// Programs round sizes up, but not by more than 128.
TEST(MarianModel, SaysHowManyPiecesAreMadeUpForAShortList) {
  const TemporaryFolder folder;
  std::string said;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) said += message;
  };
  const LogScope scope(&sink);
  read_marian(folder.make("m.bin", with_embeddings(20 + 128, 8)), words);
  EXPECT_EQ(said, "");
  read_marian(folder.make("m.bin", with_embeddings(20 + 129, 8)), words);
  EXPECT_EQ(said, words[0] +
                      " lists 20 of the model's 149 pieces; the other 129 are made up and never used: expected "
                      "the list that the model was trained with");
}

TEST(MarianModel, NamesTheSentencePieceModelThatIsBroken) {
  const TemporaryFolder folder;
  const std::string list = folder.make("words.yml", read_file(words[0])), path = folder.make("target.spm", "broken");
  EXPECT_EQ(error_of([&] {
              read_marian(golden("tied.npz"), {list, list});
            }),
            path + " is text, expected a SentencePiece model");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("nowhere", path);
  EXPECT_EQ(error_of([&] {
              read_marian(golden("tied.npz"), {list, list});
            }),
            path + ": cannot be opened: No such file or directory");
}

TEST(MarianConfig, NamesWhatItDoesNotKnow) {
  const auto complaint = [](const std::string& yaml) {
    return error_of([&] { marian_config("type: transformer\n" + yaml, "m.npz"); });
  };
  EXPECT_EQ(error_of([] { marian_config("type: amun\n", "m.npz"); }),
            "m.npz: its option type is amun, which dragoman does not support");
  for (const char* option :
       {"transformer-ffn-depth: 3", "transformer-preprocess: h", "transformer-postprocess-top: r", "right-left: true",
        "transformer-rnn-projection: true", "transformer-pool: true", "lemma-dim-emb: 5",
        "transformer-ffn-activation: tanh", "transformer-decoder-autoreg: lstm"})
    EXPECT_THAT(complaint(option), HasSubstr("which dragoman does not support")) << option;
  EXPECT_THAT(complaint("transformer-decoder-autoreg: rnn\ndec-cell: gru"), HasSubstr("option dec-cell is gru"));
  EXPECT_THAT(complaint("dim-emb: [1]"), HasSubstr("dim-emb is [1], expected a value of another type"));
  EXPECT_THAT(complaint("a: ["), HasSubstr("not YAML"));
}

TEST(MarianConfig, ReadsTiedLayersByTheFirstOfEach) {
  const auto tied = [](const std::string& numbers) {
    const std::string depth = std::to_string(1 + std::count(numbers.begin(), numbers.end(), ','));
    return marian_config("type: transformer\ndec-depth: " + depth + "\ntransformer-tied-layers: " + numbers, "m.npz")
        .tied_decoder_layers;
  };
  EXPECT_THAT(tied("[1, 1, 2]"), testing::ElementsAre(1, 1, 3));
  EXPECT_THAT(tied("[2, 1, 2, 1]"), testing::ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(tied("[1, 2, 3]"), testing::IsEmpty());
  EXPECT_EQ(error_of([] { marian_config("type: transformer\ntransformer-tied-layers: [2, 1]", "m.npz"); }),
            "m.npz: its option transformer-tied-layers has 2 numbers, expected one for each of the 6 decoder layers");
}

// Dropout, which only training has, may be anywhere.
TEST(MarianConfig, TakesDropoutAnywhere) {
  const auto read = [](const std::string& yaml) { return marian_config("type: transformer\n" + yaml, "m"); };
  EXPECT_EQ(read("transformer-preprocess: d\ntransformer-postprocess: dan").norm, NormPlacement::post);
  EXPECT_EQ(read("transformer-preprocess: nd\ntransformer-postprocess: a").norm, NormPlacement::pre);
  EXPECT_TRUE(read("transformer-postprocess-emb: dn").embedding_norm);
}

// In Marian, √D belongs to the step that adds positions.
TEST(MarianConfig, DoesNotScaleEmbeddingsWithoutPositions) {
  const ModelConfig usual = marian_config("type: transformer\n", "m"),
                    without = marian_config("type: transformer\ntransformer-disable-position-embeddings: true\n", "m");
  EXPECT_EQ(usual.embeddings.scale, 0);
  EXPECT_EQ(without.positions, Positions::none);
  EXPECT_EQ(without.embeddings.scale, 1);
}

// The version that computes it exactly is the one after 1.12.0.
TEST(MarianConfig, ReadsTheGeluOfItsVersion) {
  const auto gelu = [](const std::string& version) {
    return marian_config("type: transformer\ntransformer-ffn-activation: gelu\n" + version, "m").activation;
  };
  EXPECT_EQ(gelu("version: v1.12.42 b7be0e964"), Activation::gelu);
  EXPECT_EQ(gelu("version: v1.12.0 65bf82ff"), Activation::gelu_sigmoid);
  EXPECT_EQ(gelu("version: v1.9.56"), Activation::gelu_sigmoid);
  EXPECT_EQ(gelu(""), Activation::gelu_sigmoid);
}

}  // namespace
}  // namespace dragoman
