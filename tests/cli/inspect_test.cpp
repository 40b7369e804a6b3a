#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/fact_page.h"
#include "cli/inspect_options.h"
#include "tests/engine.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class InspectCommand : public testing::Test {
 protected:
  static std::string output_of(const InspectOptions& options) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(inspect_command(engine, options), 0);
    return testing::internal::GetCapturedStdout();
  }
  static json json_of(InspectOptions options) {
    options.json = true;
    return json::parse(output_of(options));
  }
  static void expect_error(const std::string& path, const std::string& part) {
    try {
      inspect_command(engine, {.model = path});
      ADD_FAILURE() << path << " was accepted";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
  static std::string hint_of(const std::string& path) {
    try {
      inspect_command(engine, {.model = path});
    } catch (const Error& error) {
      return error.hint();
    }
    return "no error";
  }

  TemporaryFolder folder;
};

// D 16, F 24, V 340, by hand. Attention: 4 (D·D + D) = 1088. Feed-forward: 2·D·F + F + D = 808. Norm: 2·D = 32.
constexpr int64_t embeddings = 340 * 16, encoder = 1088 + 808 + 2 * 32, decoder = 2 * 1088 + 808 + 3 * 32;

TEST_F(InspectCommand, CountsTheParametersOfEachGroup) {
  const json page = json_of({.model = save_toy_model(folder / "m", 1)});
  EXPECT_EQ(page["kind"], "model");
  EXPECT_EQ(page["parameters"]["groups"],
            (json{{"embeddings", embeddings}, {"encoder", encoder}, {"decoder", decoder}}));
  EXPECT_EQ(page["parameters"]["total"], embeddings + encoder + decoder);
  EXPECT_EQ(page["parameters"]["dtype"], "F32");
  EXPECT_EQ(page["checksum"], "ok");
  EXPECT_EQ(page["bytes"], std::filesystem::file_size(folder / "m"));
  EXPECT_EQ(page["config"]["dim"], 16);
  EXPECT_EQ(page["vocabularies"]["source"], (json{{"pieces", 340}, {"type", "bpe"}, {"byte_fallback", true}}));
  EXPECT_EQ(page["vocabularies"]["joint"], true);
}

TEST_F(InspectCommand, CountsSeparateEmbeddingsAndTheOutputLayer) {
  ModelConfig config = toy_config();
  config.embeddings.tied_all = false;
  const json groups = json_of({.model = save_toy_model(folder / "m", 1, config)})["parameters"]["groups"];
  EXPECT_EQ(groups["embeddings"], 2 * embeddings);
  EXPECT_EQ(groups["output"], embeddings);
}

TEST_F(InspectCommand, DescribesAModelInWords) {
  const std::string page = output_of({.model = save_toy_model(folder / "m", 1)});
  EXPECT_THAT(page, StartsWith(folder / "m: a dragoman model\n"));
  for (const char* words : {"1 encoder, 1 decoder\n", "2 of dim 8\n", "post-norm", "340 pieces, bpe, with byte",
                            "the same\n", "5,440", "in 43 tensors of F32\n", "version 1\n", "ok, "})
    EXPECT_THAT(page, HasSubstr(words));
}

TEST_F(InspectCommand, DescribesAModelLikeT5) {
  ModelConfig config = toy_config();
  config.positions = Positions::relative_bias, config.gated_feed_forward = true;
  EXPECT_THAT(output_of({.model = save_toy_model(folder / "m", 1, config)}),
              AllOf(HasSubstr("(relu, gated)"), HasSubstr("relative-bias, 32 ranges of distances up to 128")));
}

TEST_F(InspectCommand, SaysWhichHeadsGiveAlignments) {
  ModelConfig config = toy_config();
  const auto page = [&] { return output_of({.model = save_toy_model(folder / "m", 1, config)}); };
  EXPECT_THAT(page(), Not(HasSubstr("alignments")));
  config.decoder_layers = 3;
  config.alignment.heads = 1;
  EXPECT_THAT(page(), HasSubstr("of the first head of decoder layer 3\n"));
  config.alignment = {.layer = 2, .heads = 0};
  EXPECT_THAT(page(), HasSubstr("of all heads of decoder layer 2\n"));
}

TEST_F(InspectCommand, RecognisesATrainingStateAndNamesItsModel) {
  write_safetensors(folder / "m.state.safetensors", {},
                    {{"format", "dragoman-state"}, {"version", "2"}, {"progress", R"({"updates":1200,"epoch":0})"}});
  const std::string page = output_of({.model = folder / "m.state.safetensors"});
  EXPECT_THAT(page, HasSubstr("a training state, not a model"));
  EXPECT_THAT(page, HasSubstr("updates    1,200\n"));
  EXPECT_THAT(page, HasSubstr("epoch      1\n"));
  EXPECT_THAT(page, HasSubstr("needs " + folder / "m.safetensors\n"));
  EXPECT_EQ(json_of({.model = folder / "m.state.safetensors"})["progress"]["updates"], 1200);
}

TEST_F(InspectCommand, CountsEpochsAsTheLogDoes) {
  const auto epoch = [&](const char* progress) {
    write_safetensors(folder / "m.state", {}, {{"format", "dragoman-state"}, {"version", "2"}, {"progress", progress}});
    const std::string page = output_of({.model = folder / "m.state"});
    return page.substr(page.find("epoch"), page.find("\n", page.find("epoch")) - page.find("epoch"));
  };
  EXPECT_EQ(epoch(R"({"epoch":2,"batch":7})"), "epoch      3");
  EXPECT_EQ(epoch(R"({"epoch":3,"batch":0})"), "epoch      3") << "its end";
}

TEST_F(InspectCommand, ListsTheTensorsOfAnotherProgramsFile) {
  const InspectOptions options{.model = source_dir() + "/tests/io/python.safetensors"};
  EXPECT_THAT(output_of(options), HasSubstr("not a dragoman model"));
  const json page = json_of(options);
  EXPECT_EQ(page["kind"], "safetensors");
  EXPECT_FALSE(page["tensors"].empty());
  EXPECT_TRUE(page["checksum"].is_null());
}

TEST_F(InspectCommand, DescribesAVocabulary) {
  const InspectOptions options{.model = source_dir() + "/tests/vocab/golden/unigram.spm"};
  EXPECT_THAT(output_of(options), HasSubstr("a SentencePiece vocabulary, not a model"));
  EXPECT_EQ(json_of(options)["type"], "unigram");
}

TEST_F(InspectCommand, DescribesVocabulariesOfOtherPrograms) {
  const InspectOptions options{.model = folder.make("v.yml", "</s>: 0\n<unk>: 1\na: 2\n")};
  EXPECT_THAT(output_of(options), HasSubstr("v.yml: a vocabulary, not a model"));
  EXPECT_EQ(json_of(options)["type"], "tokens");
  EXPECT_EQ(json_of({.model = folder.make("stored", Vocabulary::load(options.model).bytes())})["pieces"], 3);
}

// A configuration of Marian has the same ending, and names its files under "models".
TEST_F(InspectCommand, TellsVocabulariesFromConfigurationsOfMarian) {
  for (const char* line : {"models: 2\n", "vocabs: 2\n", "@cat: 2\n", "\"@cat\": 2\n"}) {
    const InspectOptions options{.model = folder.make("v.yml", std::string("</s>: 0\n<unk>: 1\n") + line)};
    EXPECT_EQ(json_of(options)["pieces"], 3) << line;
  }
  expect_error(folder.make("gap.yml", "</s>: 0\nmodels: 2\nb: 4\n"), "no piece has id 3");
  expect_error(folder.make("two.yml", "models: m.npz\n"), "two.yml: models is not a list of files");
  expect_error(folder.make("broken.yml", "models: [m.npz\n"), "broken.yml: no YAML: ");
  expect_error(folder.make("nothing.yml", "# nothing\n"), "nothing.yml contains no pieces");
}

TEST_F(InspectCommand, SaysWhatIsWrongWithAFile) {
  expect_error(folder / "missing", "missing");
  expect_error(folder.make("empty", ""), "is empty");
  expect_error(folder.make("text", "Good morning, everybody.\n"), "is text, which inspect cannot read");
  expect_error(folder.make("newlines", "\n\n\n"), "is text, expected a SentencePiece model");
  expect_error(folder.make("m.npz", "PK\3\4 and so on"), "zip archive");
  expect_error("-", "stdin");
}

// With the errors of the commands that use a model.
TEST_F(InspectCommand, SaysThatAPartOfAModelIsNamedByItsFolder) {
  const std::string golden = source_dir() + "/tests/interop/golden/";
  for (const std::string part : {"ct2_marian/model.bin", "marianmt/config.json"}) {
    const std::string parent = std::filesystem::path(part).parent_path();
    EXPECT_THAT(hint_of(golden + part), EndsWith("another program's model, give the folder: " + golden + parent));
  }
  expect_error(folder / "", "is a folder without a model that dragoman reads");
  EXPECT_THAT(hint_of(folder / ""), HasSubstr("looked for config.json"));
  expect_error(folder.make("m.onnx", "graph"), "is an ONNX model, which dragoman writes but does not read");
  EXPECT_THAT(hint_of(folder.make("model.bin", "no model beside it")), Not(HasSubstr("folder")));
}

TEST_F(InspectCommand, FindsADamagedModel) {
  save_toy_model(folder / "m", 1);
  std::string bytes = folder.content_of("m");
  bytes[bytes.size() / 2] ^= 1;
  expect_error(folder.make("m", bytes), "checksum");
}

TEST_F(InspectCommand, DescribesTheMachine) {
  const json page = json_of({.devices = true});
  EXPECT_GE(page["cpu"]["cores"], 1);
  EXPECT_GE(page["cpu"]["threads"], 1);
  EXPECT_GT(page["cpu"]["memory_bytes"], 1'000'000);
  EXPECT_FALSE(page["cpu"]["own_kernels"].empty());
  if (!page["gpus"].empty()) return;
  EXPECT_THAT(output_of({.devices = true}), testing::ContainsRegex("devices +none: [a-z]"));
}

TEST(FactPage, AlignsValuesAndSetsHeadingsApart) {
  FactPage page("title");
  page.heading("Parts");
  page.fact("a", "1");
  page.fact("longer", "2");
  EXPECT_EQ(page.text(), "title\n\nParts\n  a       1\n  longer  2\n");
}

TEST(SizeInWords, CountsInPowersOf1024) {
  EXPECT_EQ(exact_size(1023), "1023 bytes");
  EXPECT_EQ(exact_size(1536), "1.5 KiB (1,536 bytes)");
  EXPECT_EQ(exact_size(int64_t{3} << 40), "3.0 TiB (3,298,534,883,328 bytes)");
}

TEST_F(InspectCommand, PutsTheRestOfManyGroupsTogether) {
  Arena arena;
  auto weights = weights_of(toy_model(arena, 1)->parameters());
  const Tensor one = arena.allocate({1}, DType::f32);
  one.as<float>()[0] = 1;
  for (int i = 0; i < 3000; ++i) weights.push_back({fmt::format("l{}.weight", i), one});
  save_model(folder / "m", toy_config(), {toy_vocabulary(), toy_vocabulary()}, weights);
  const json groups = json_of({.model = folder / "m"})["parameters"]["groups"];
  // Embeddings, encoder, decoder, 11 more groups, and "others"; the output layer is tied to the embeddings.
  EXPECT_EQ(groups.size(), 15u);
  EXPECT_EQ(groups["l0"], 1);
  EXPECT_EQ(groups["others"], 3000 - 11);
}

}  // namespace
}  // namespace dragoman
