#include "options/foreign.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/quantize_options.h"
#include "cli/score_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "dragoman/average.h"
#include "options/train_table.h"
#include "tests/cli/marian_cases.h"
#include "tests/cli/marian_training_cases.h"
#include "tests/source_dir.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

Strings split(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// What a command makes of a command line and of the files in it.
template <class Options>
class Answer {
 public:
  Answer(Table<Options> table, const Strings& arguments) {
    table.inherit = nullptr;  // reads --pretrained-model
    const LogSink sink = [this](LogLevel, std::string_view message) { said += fmt::format("{}\n", message); };
    const LogScope scope(&sink);
    try {
      Options options;
      parse(table, arguments, options);
    } catch (const Error& e) {
      said = fmt::format("{} | {}", e.what(), e.hint());
      fails = true;
    }
  }

  Outcome outcome() const {
    if (fails) return refused;
    return said.find(" ignored") != said.npos ? ignored : runs;
  }

  std::string said;
  bool fails = false;
};

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
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& text) const {
    std::ofstream(folder / "a.yml") << text;
    return folder / "a.yml";
  }

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

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      fmt::format("dragoman_foreign_{}_{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
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
  EXPECT_THAT(options.models, testing::ElementsAre((folder / "model.npz").string(), "/else/where"));
  EXPECT_EQ(options.input, "-");
  EXPECT_EQ(options.beam_size, 6);
}

TEST_F(Files, OfAShortlistAreOnlyTheFirstWord) {
  TranslateCommandOptions options;
  parse(translate_table(), {"-c", file("model: m\nrelative-paths: true\nshortlist: [lex.s2t, 100, 75, 0.1]\n")},
        options);
  EXPECT_EQ(options.shortlist, (folder / "lex.s2t").string());
  EXPECT_EQ(options.shortlist_limits.best, 75);
}

TEST_F(Files, OfAValidationScriptLieBesideTheConfiguration) {
  for (const char* name : {"validate.sh", "references"}) std::ofstream(folder / name) << "1\n";
  const std::string config = file(
      "relative-paths: true\nvalid-sets: [s, t]\nvalid-metrics: translation\nvalid-script-path: validate.sh\n"
      "valid-script-args: [references, --lang, de]\n");
  TrainOptions options;
  parse(train_table(), split(std::string(train_line) + " -c " + config), options);
  EXPECT_EQ(options.valid_script_path, (folder / "validate.sh").string());
  EXPECT_THAT(options.valid_script_args, testing::ElementsAre((folder / "references").string(), "--lang", "de"));
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
            "this affects speed only\n-w 9 is ignored: memory is allocated as needed\n");
}

TEST(MariansOptions, MayHaveOptionsAsTheirValue) {
  const Answer<TrainOptions> answer(
      train_table(), split(std::string(train_line) + " --sentencepiece-options --normalization_rule_tsv=norm.tsv"));
  EXPECT_THAT(answer.said, testing::StartsWith("there is no option --sentencepiece-options | --vocab-type"));
}

TEST(OtherPrograms, HaveOptionsWithAnAnswerForTheCommand) {
  EXPECT_EQ(foreign_option("output", "train")->answer, "--model names the model's file");
  for (const char* name : {"alignment-matrix", "src_feats_vocab"}) EXPECT_NE(foreign_option(name, "train"), nullptr);
  EXPECT_EQ(foreign_answer("ensemble", "train"), "");
  EXPECT_THAT(std::string(foreign_answer("ensemble", "translate")), HasSubstr("averages log-probabilities"));
  EXPECT_THAT(std::string(foreign_program("atools")), HasSubstr("dragoman align"));
}

TEST(MariansOptions, NameStdin) {
  TrainOptions options;
  parse(train_table(), split("-m m --tsv -t stdin -v v v"), options);
  EXPECT_EQ(options.train_sets, std::vector<std::string>{"-"});
  EXPECT_EQ(options.stream, usual_stream_lines);
}

TEST(MariansOptions, AreNotIgnoredByCommandsThatMarianHasNot) {
  EXPECT_EQ(Answer<AverageOptions>(average_table(), split("-o a b --workspace 9")).outcome(), refused);
}

TEST(FairseqsOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {{"--lr 1", "--learn-rate"},
                                                        {"--max-tokens 4096", "--mini-batch-words"},
                                                        {"--max-update 9", "--after"},
                                                        {"--arch transformer", "--task"},
                                                        {"--patience 10", "--early-stopping"},
                                                        {"--lr-scheduler reduce_lr_on_plateau", "--lr-decay 0.1"},
                                                        {"--lr-shrink 0.5", "--lr-decay"},
                                                        {"--lr-patience 2", "--lr-decay X"},
                                                        {"--alignment-lambda 0.05", "--guided-alignment-weight"},
                                                        {"--encoder-langtok tgt", "--protected-symbols"},
                                                        {"--best-checkpoint-metric bleu", "--keep-best"},
                                                        {"--update-freq 4", "--optimizer-delay"},
                                                        {"-s de", "--train-sets"},
                                                        {"--task translation", "--type"},
                                                        {"--criterion cross_entropy", "--label-smoothing"},
                                                        {"--distributed-world-size 8", "--devices"},
                                                        {"--ema-decay 0.9999", "--exponential-smoothing"},
                                                        {"--user-dir mine", "plug-ins"}};
  for (const auto& [words, name] : called) {
    const Answer<TrainOptions> answer(train_table(), split(std::string(train_line) + " " + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
  for (const auto& [words, name] :
       {std::pair("-s en", "--input names the text"), std::pair("--lenpen 0.6", "--normalize"),
        std::pair("--max-len-b 50", "--max-length-add"), std::pair("--max-len-a 1.2", "--max-length-factor"),
        std::pair("--unnormalized", "--normalize 0"), std::pair("--remove-bpe", "SentencePiece"),
        std::pair("--beam 5", "--beam-size")}) {
    const Answer<TranslateCommandOptions> answer(translate_table(), split(std::string("-m m ") + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
}

TEST(FairseqsOptions, AreIgnoredWithValuesThatChangeNothingHere) {
  for (const char* words : {"--lr-scheduler inverse_sqrt", "--criterion label_smoothed_cross_entropy",
                            "--warmup-init-lr -1", "--alignment-heads 1", "--sampling-method concat",
                            "--distributed-world-size 1", "--skip-invalid-size-inputs-valid-test"})
    EXPECT_EQ(Answer<TrainOptions>(train_table(), split(std::string(train_line) + " " + words)).outcome(), ignored)
        << words;
}

TEST(OpenNmtsOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {
      {"--word_vec_size 512", "--dim-emb"},          {"-word_vec_size 512", "--dim-emb"},
      {"--share_vocab", "joint vocabulary"},         {"--train_from m.pt", "--pretrained-model"},
      {"--batch_type tokens", "--mini-batch-words"}, {"--save_checkpoint_steps 5000", "--save-freq"},
      {"--train_steps 100000", "--after 100000u"},   {"--accum_count 4", "--optimizer-delay"},
      {"--coverage_attn", "docs/attention.md"},      {"--dynamic_dict", "--copy"}};
  for (const auto& [words, name] : called) {
    const Answer<TrainOptions> answer(train_table(), split(std::string(train_line) + " " + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
  EXPECT_EQ(Answer<TrainOptions>(train_table(), split(std::string(train_line) + " --optim adam")).outcome(), ignored);
  const Answer<TranslateCommandOptions> answer(translate_table(), split("-m m -src text -beam_size 5 --batch_size 30"));
  EXPECT_THAT(answer.said, HasSubstr("there is no option -src\n    hint: --input names the text"));
  EXPECT_THAT(answer.said, HasSubstr("there is no option -beam_size\n    hint: use --beam-size"));
  EXPECT_THAT(answer.said, testing::StartsWith("2 problems"));
}

TEST(SockeyesOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {{"--num-layers 6:2", "--enc-depth"},
                                                        {"--checkpoint-interval 4000", "--valid-freq"},
                                                        {"--transformer-model-size 512", "--dim-emb"},
                                                        {"--initial-learning-rate 0.1", "--learn-rate"},
                                                        {"--decode-and-evaluate 500", "--valid-metrics bleu"},
                                                        {"--learning-rate-reduce-num-not-improved 8", "--lr-decay X"},
                                                        {"--device-id 0", "--devices"}};
  for (const auto& [words, name] : called) {
    const Answer<TrainOptions> answer(train_table(), split(std::string(train_line) + " " + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
  EXPECT_EQ(Answer<TranslateCommandOptions>(translate_table(), split("-m m --chunk-size 9")).outcome(), ignored);
}

// The first table that has a name answers for it.
TEST(ForeignOptions, OfTheLaterTablesAreInNoEarlierOne) {
  for (const auto& rows : {opennmt_options(), sockeye_options()})
    for (const Foreign& row : rows)
      for (const std::string& name : split(std::string(row.names))) {
        const std::string command = row.commands.empty() ? "average" : split(std::string(row.commands))[0];
        EXPECT_EQ(foreign_option(name, command), &row) << name;
      }
}

TEST(ForeignPrograms, SayWhatTheyAreCalledHere) {
  EXPECT_TRUE(foreign_program("marian-evaluator").starts_with("not here"));
  for (const char* name : {"generate", "decode", "marian-decoder"})
    EXPECT_TRUE(foreign_program(name).starts_with("dragoman translate")) << name;
  EXPECT_EQ(foreign_program("marian-scorer"), "dragoman score");
  EXPECT_TRUE(foreign_program("marian-vocab").starts_with("dragoman vocab train -m vocab.yml"));
  EXPECT_TRUE(foreign_program("spm_train").starts_with("dragoman vocab train"));
  EXPECT_TRUE(foreign_program("preprocess").starts_with("not needed"));
  EXPECT_TRUE(foreign_program("onmt_train").starts_with("dragoman train"));
  EXPECT_TRUE(foreign_program("ct2-opennmt-py-converter").starts_with("dragoman convert"));
  EXPECT_EQ(foreign_program("sockeye-translate"), "dragoman translate");
  EXPECT_EQ(foreign_program("apply_bpe"), "dragoman vocab encode");
  EXPECT_EQ(foreign_program("elephant"), "");
}

// Options in an answer, without those of the row itself.
TEST(ForeignOptions, HaveAnswersThatNameOptionsThatExist) {
  std::set<std::string> known{"--version"};
  for (const Command& command : all_commands())
    for (const std::string& name : all_names(command.options())) known.insert("--" + name);
  for (const auto& rows : {marian_options(), fairseq_options(), opennmt_options(), sockeye_options(), marian_programs(),
                           fairseq_programs(), opennmt_programs(), sockeye_programs()})
    for (const Foreign& row : rows)
      for (std::string word : split(std::string(row.answer))) {
        while (!word.empty() && std::ispunct(uint8_t(word.back()))) word.pop_back();
        if (word.starts_with("--")) {
          EXPECT_TRUE(known.contains(word)) << word << " in: " << row.answer;
        }
      }
}

}  // namespace
}  // namespace dragoman
