#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/average_options.h"
#include "cli/commands.h"
#include "cli/quantize_options.h"
#include "cli/score_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "options/train_table.h"
#include "tests/cli/marian_cases.h"
#include "tests/cli/marian_training_cases.h"
#include "tests/error_of.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

template <class Options>
void expect(const Table<Options>& table, const std::string& before, const MarianCase& c, Outcome outcome) {
  const Strings words = split(c.words);
  const Answer<Options> answer(table, split(before + " " + c.words));
  EXPECT_EQ(answer.outcome(), outcome) << table.about.name << " " << c.words << "\n" << answer.said;
  if (outcome == runs) return;
  const std::string name = words[0].substr(0, words[0].find('='));
  EXPECT_THAT(answer.said, HasSubstr(name.size() > 2 ? name : "-")) << c.words;
  EXPECT_EQ(answer.said.find("did you mean"), answer.said.npos) << answer.said;
  EXPECT_FALSE(answer.said.find("there is no option") != answer.said.npos && answer.said.ends_with("| "))
      << answer.said;
}

constexpr const char* train_line = "-m m -t s t -v v v";
constexpr const char* translate_line = "-m m";
constexpr const char* score_line = "-m m -t s t";

TEST(MariansOptions, OfEveryProgramRunOrAreIgnoredOrRefused) {
  for (const MarianCase& c : general) {
    expect(train_table(), train_line, c, c.outcome);
    expect(translate_table(), translate_line, c, c.outcome);
    expect(score_table(), score_line, c, c.outcome);
  }
}

TEST(MariansOptions, OfModelsAreForTrainingAndOtherwiseInTheModelFile) {
  for (const MarianCase& c : model) {
    expect(train_table(), train_line, c, c.outcome);
    expect(translate_table(), translate_line, c, ignored);
    expect(score_table(), score_line, c, ignored);
  }
}

TEST(MariansOptions, ThatACommandNeeds) {
  expect(train_table(), "", {"--train-sets s t --vocabs v v --model m"}, runs);
  expect(translate_table(), "", {"--models m n"}, runs);
  expect(score_table(), "", {"--train-sets s t --model m"}, runs);
}

TEST(MariansOptions, OfTraining) {
  for (const MarianCase& c : training) expect(train_table(), train_line, c, c.outcome);
}

TEST(MariansOptions, OfTranslating) {
  for (const MarianCase& c : translating) expect(translate_table(), translate_line, c, c.outcome);
}

TEST(MariansOptions, OfScoring) {
  for (const MarianCase& c : scoring) expect(score_table(), score_line, c, c.outcome);
}

class Files : public testing::Test {
 protected:
  std::string file(const std::string& text) const { return folder.make("a.yml", text); }

  // The first option as a line of a file, what follows it on the command line.
  template <class Options>
  void expect_in_file(const Table<Options>& table, const std::string& before, const MarianCase& c, Outcome outcome) {
    const Strings words = split(c.words);
    if (!words[0].starts_with("--") || words[0].find('=') != std::string::npos || words[0] == "--dump-config") return;
    Strings values, rest = split(before);
    size_t i = 1;
    for (; i < words.size() && !words[i].starts_with("--"); ++i) values.push_back(fmt::format("\"{}\"", words[i]));
    rest.insert(rest.end(), words.begin() + i, words.end());
    const bool number =
        words[0] == "--exponential-smoothing" || (words[0] == "--normalize" && table.about.name != "score");
    if (values.empty()) values = {number ? "1" : "true"};
    if (words[0] == "--alignment" || words[0] == "--summary" || words[0] == "--output-sampling") {
      if (values[0] == "true") return;  // in a file it has a value
    }
    const std::string line = fmt::format("{}: {}\n", words[0].substr(2),
                                         values.size() == 1 ? values[0] : fmt::format("[{}]", fmt::join(values, ", ")));
    rest.insert(rest.end(), {"-c", file(line)});
    const Answer<Options> answer(table, rest);
    EXPECT_EQ(answer.outcome(), outcome) << table.about.name << ": " << line << answer.said;
    if (outcome == refused) {
      EXPECT_THAT(answer.said, HasSubstr(words[0].substr(2))) << line;
    }
  }

  const TemporaryFolder folder;
};

TEST_F(Files, OfMarianAreReadAsItsCommandLines) {
  for (const MarianCase& c : general) {
    expect_in_file(train_table(), train_line, c, c.outcome);
    expect_in_file(translate_table(), translate_line, c, c.outcome);
  }
  for (const MarianCase& c : model) expect_in_file(train_table(), train_line, c, c.outcome);
  for (const MarianCase& c : training) expect_in_file(train_table(), train_line, c, c.outcome);
  for (const MarianCase& c : translating) expect_in_file(translate_table(), translate_line, c, c.outcome);
  for (const MarianCase& c : scoring) expect_in_file(score_table(), score_line, c, c.outcome);
}

TEST_F(Files, OfADecoderNameWhatLiesBesideThem) {
  TranslateCommandOptions options;
  parse(translate_table(),
        {"-c", file("models:\n  - model.npz\n  - /else/where\nvocabs: [v, v]\nbeam-size: 6\nnormalize: 1\n"
                    "word-penalty: 0\nmini-batch: 1\nmaxi-batch: 1\nmaxi-batch-sort: src\nrelative-paths: true\n"
                    "input: stdin\n")},
        options);
  EXPECT_THAT(options.models, testing::ElementsAre(folder / "model.npz", "/else/where"));
  EXPECT_EQ(options.input, "-");
  EXPECT_EQ(options.beam_size, 6);
}

TEST_F(Files, AreRelativeForEachWordOfYaml) {
  const auto model_of = [&](const std::string& word) {
    TranslateCommandOptions options;
    parse(translate_table(), {"-c", file("model: m\nrelative-paths: " + word + "\n")}, options);
    return options.models.at(0);
  };
  for (const char* word : {"true", "True", "TRUE", "yes", "on"}) EXPECT_EQ(model_of(word), folder / "m") << word;
  for (const char* word : {"false", "False", "no", "Off"}) EXPECT_EQ(model_of(word), "m") << word;
  for (const char* word : {"maybe", "1", "[true]", "~"})
    EXPECT_THAT(error_of([&] { model_of(word); }), testing::HasSubstr("is neither true nor false")) << word;
}

TEST_F(Files, OfAShortlistAreOnlyTheFirstWord) {
  TranslateCommandOptions options;
  parse(translate_table(), {"-c", file("model: m\nrelative-paths: true\nshortlist: [lex.s2t, 100, 75, 0.1]\n")},
        options);
  EXPECT_EQ(options.shortlist, folder / "lex.s2t");
  EXPECT_EQ(options.shortlist_limits.best, 75);
}

TEST_F(Files, OfAValidationScriptLieBesideTheConfiguration) {
  for (const char* name : {"validate.sh", "references"}) folder.make(name, "1\n");
  const std::string config = file(
      "relative-paths: true\nvalid-sets: [s, t]\nvalid-metrics: translation\nvalid-script-path: validate.sh\n"
      "valid-script-args: [references, --lang, de]\n");
  TrainOptions options;
  parse(train_table(), split(std::string(train_line) + " -c " + config), options);
  EXPECT_EQ(options.valid_script_path, folder / "validate.sh");
  EXPECT_THAT(options.valid_script_args, testing::ElementsAre(folder / "references", "--lang", "de"));
}

TEST_F(Files, MayHoldOptionsWhoseValuesAreNotPlain) {
  const std::string config = file("custom-fallbacks: [{fp16: false}]\n");
  const Answer<TrainOptions> answer(train_table(), split(std::string(train_line) + " -c " + config));
  EXPECT_THAT(answer.said, HasSubstr("line 1: there is no option 'custom-fallbacks' | --max-skipped"));
}

TEST(Blanks, InTheNameOfAFileDoNotMakeTwoWordsOfIt) {
  TranslateCommandOptions options;
  parse(translate_table(), {"-m", "m", "-i", "my file", "--shortlist", "my list"}, options);
  EXPECT_EQ(options.input, "my file");
}

template <class Options>
void expect_taken(const Table<Options>& table, const std::string& file) {
  const Answer<Options> answer(table, {"-c", source_dir() + "/tests/cli/" + file});
  EXPECT_EQ(answer.outcome(), ignored) << answer.said;
  EXPECT_THAT(answer.said, HasSubstr("are ignored: such a value changes nothing here\n"));
}

// All defaults of Marian 1.12.43, as --dump-config full writes them, but for files, device and --type transformer; in
// training also the keys of older versions.
TEST(MariansOptions, OfADumpedConfigurationAreTaken) {
  expect_taken(train_table(), "marian_training.yml");
  expect_taken(translate_table(), "marian_translating.yml");
  expect_taken(score_table(), "marian_scoring.yml");
}

TEST(MariansOptions, OfConvertingAndOfVocabulariesSayWhatTheyAreCalledHere) {
  for (const auto& [words, name] :
       {std::pair("-f m.npz", "--model"), std::pair("--to m.bin", "--output"), std::pair("-g packed8avx2", "8-bit"),
        std::pair("--export-as onnx-encode", "--to onnx"), std::pair("--dump-shortlist lex.bin", "shortlists")}) {
    const Answer<QuantizeCommandOptions> answer(quantize_table(), split(std::string("-m m -o o ") + words));
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name)) << answer.said;
  }
  const Answer<VocabOptions> answer(vocab_table(), split("train -m m -i t --max-size 30"));
  EXPECT_THAT(answer.said, HasSubstr("there is no option --max-size | --size sets"));
}

TEST_F(Files, AndCommandLinesHaveAllTheirProblemsInOneAnswer) {
  const Answer<TrainOptions> answer(
      train_table(), split("--enc-depth six --workspace 1000 --fp16 --lern-rate 1 --max-tokens 4000 -m m -t s t -c " +
                           file("lr: 3\ndec-depth: many\nwrite-home: 1\nsqlite: temporary\n")));
  EXPECT_EQ(answer.outcome(), refused);
  EXPECT_THAT(answer.said, testing::StartsWith("8 problems with the options of dragoman train\n"));
  for (const char* part :
       {"there is no option --fp16\n    hint: --precision float16", "there is no option --max-tokens",
        "there is no option --lern-rate\n    hint: did you mean --learn-rate?",
        "--enc-depth: 'six' is not a whole number", "line 1: there is no option 'lr'\n    hint: use --learn-rate",
        "line 2: dec-depth: 'many' is not a whole number", "line 3: there is no option 'write-home'",
        "--vocabs SOURCE TARGET is missing"})
    EXPECT_THAT(answer.said, HasSubstr(part));
}

TEST(MariansOptions, AreIgnoredWithOneLineForEachReason) {
  const Answer<TranslateCommandOptions> answer(translate_table(), split("-m m --mini-batch 1 --maxi-batch 8 -w 9"));
  EXPECT_EQ(answer.said,
            "--mini-batch 1, --maxi-batch 8 are ignored: sentences are batched by length, up to --mini-batch-words; "
            "this affects speed\n-w 9 is ignored: memory is allocated as needed\n");
}

TEST(MariansOptions, MayHaveOptionsAsTheirValue) {
  const Answer<TrainOptions> answer(
      train_table(), split(std::string(train_line) + " --sentencepiece-options --normalization_rule_name=nfkc"));
  EXPECT_THAT(answer.said, testing::StartsWith("--sentencepiece-options: --normalization_rule_name is not for this "
                                               "option to set | use --vocab-normalization"));
  TrainOptions options;
  parse(train_table(), split(std::string(train_line) + " --sentencepiece-options --normalization_rule_tsv=norm.tsv"),
        options);
  EXPECT_EQ(options.sentencepiece_options, "--normalization_rule_tsv=norm.tsv");
}

TEST(MariansOptions, NameStdin) {
  TrainOptions options;
  parse(train_table(), split("-m m --tsv -t stdin -v v v"), options);
  EXPECT_EQ(options.train_sets, std::vector<std::string>{"-"});
  EXPECT_EQ(options.stream, usual_stream_lines);
}

TEST(MariansOptions, AreNotIgnoredByCommandsThatMarianHasNot) {
  EXPECT_EQ(Answer<AverageCommandOptions>(average_table(), split("-o a b --workspace 9")).outcome(), refused);
}

}  // namespace
}  // namespace dragoman
