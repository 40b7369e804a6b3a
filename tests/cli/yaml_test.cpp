#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/translate_options.h"
#include "options/train_table.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class Yaml : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const { return folder.make(name, text); }

  // The error for a file with this text, without the folder in its path.
  std::string error_of(const std::string& text) const {
    TranslateCommandOptions options;
    try {
      parse(translate_table(), {"-m", "x", "-c", file("a.yml", text)}, options);
    } catch (const Error& e) {
      const std::string message = fmt::format("{} | {}", e.what(), e.hint());
      return message.substr(message.find("a.yml"));
    }
    return "no error";
  }

  const TemporaryFolder folder;
};

TEST_F(Yaml, LaterFilesWinAndTheCommandLineWinsOverAll) {
  const auto base = file("base.yml", "models: [a.bin]\nbeam-size: 3\nnormalize: 0.6\nword-penalty: 1\n");
  const auto over = file("over.yml", "# a comment\nbeam-size: 7\nword-penalty: 2\nquiet: yes\n");
  TranslateCommandOptions options;
  parse(translate_table(), {"--word-penalty", "3", "-c", base, over}, options);
  EXPECT_THAT(options.models, ElementsAre("a.bin"));
  EXPECT_EQ(options.normalize, 0.6);
  EXPECT_EQ(options.beam_size, 7);
  EXPECT_EQ(options.word_penalty, 3);
  EXPECT_TRUE(options.quiet);
}

TEST_F(Yaml, AListOnTheCommandLineReplacesThatOfTheFile) {
  TranslateCommandOptions options;
  parse(translate_table(), {"-m", "b", "-c", file("a.yml", "model: [a1, a2]")}, options);
  EXPECT_THAT(options.models, ElementsAre("b"));
}

TEST_F(Yaml, ABeamOfTheFileIsIgnoredWhereTheCommandLineSamples) {
  const auto config = file("a.yml", "n-best: 2\nbeam-size: 6\n");
  std::string said;
  const LogSink sink = [&](LogLevel, std::string_view message) { said += message; };
  const LogScope scope(&sink);
  TranslateCommandOptions options;
  parse(translate_table(), {"-m", "x", "-c", config, "--output-sampling"}, options);
  EXPECT_EQ(options.beam_size, 2);
  EXPECT_EQ(said, fmt::format("beam-size ({}:2) is ignored: --output-sampling samples instead of searching", config));
  EXPECT_THROW(parse(translate_table(), {"-m", "x", "-c", config, "--output-sampling", "-b", "5"}, options), Error);
}

// Marian's --after-epochs and --after-batches are parts of --after.
TEST_F(Yaml, MayGiveALimitUnderMariansNamesAsTheCommandLine) {
  const auto after = [](Strings words) {
    words.insert(words.end(), {"-m", "m", "-t", "s", "t", "-v", "v", "v"});
    TrainOptions options;
    parse(train_table(), words, options);
    return options.after;
  };
  const Frequency epochs{10, Frequency::epochs}, updates{8000, Frequency::updates};
  const auto marians = file("a.yml", "after: 0e\nafter-epochs: 10\nafter-batches: 0\n");
  EXPECT_THAT(
      [&] {
        after({"-c", file("b.yml", "after-epochs: 3\ne: 4\n")});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("b.yml, line 2: 'e' appears twice in the file")));
  EXPECT_THAT(after({"--after-epochs", "10"}), ElementsAre(epochs));
  EXPECT_THAT(after({"-e10", "--after-batches=8000", "--after", "0e"}), UnorderedElementsAre(epochs, updates));
  EXPECT_THAT(after({"-c", marians}), ElementsAre(epochs));
  EXPECT_THAT(after({"--after", "8000u", "-c", marians}), ElementsAre(updates));
  for (const auto& [words, error] : {std::pair(Strings{"ten"}, "--after-epochs: 'ten' is not a whole number"),
                                     {Strings{}, "--after-epochs needs a value"},
                                     {Strings{"1", "2"}, "--after-epochs takes one number, found 2: 1 2"}}) {
    Strings line{"--after-epochs"};
    line.insert(line.end(), words.begin(), words.end());
    EXPECT_THAT([&] { after(line); }, testing::ThrowsMessage<Error>(error));
  }
}

TEST_F(Yaml, TrueIsAnOptionWithoutItsValueAndFalseIsOff) {
  const auto read = [&](const std::string& text) {
    TrainOptions options;
    parse(train_table(), {"-m", "m", "-t", "s", "t", "-v", "v", "v", "-c", file("a.yml", text)}, options);
    return options;
  };
  const TrainOptions on =
      read("exponential-smoothing: true\nnormalize: yes\nstream: True\ntransformer-depth-scaling: on\n");
  EXPECT_EQ(on.exponential_smoothing, 1e-4);
  EXPECT_EQ(on.valid_normalize, 1);
  EXPECT_EQ(on.stream, 1'000'000);
  EXPECT_EQ(on.depth_scaling, DepthScaling::always);
  const TrainOptions off =
      read("exponential-smoothing: false\nnormalize: no\nstream: False\ntransformer-depth-scaling: off\n");
  EXPECT_EQ(off.exponential_smoothing, 0);
  EXPECT_EQ(off.valid_normalize, 0);  // which is 1 if it is not given
  EXPECT_EQ(off.stream, 0);
  EXPECT_EQ(off.depth_scaling, DepthScaling::never);
  const TrainOptions marians = read("exponential-smoothing: 0\nnormalize: 1\n");
  EXPECT_EQ(marians.exponential_smoothing, 0);
  EXPECT_EQ(marians.valid_normalize, 1);
}

TEST_F(Yaml, TrueAndFalseAreWordsOfAnyOptionThatMayStandAlone) {
  TranslateCommandOptions options;
  const auto on = file("on.yml", "n-best: True\nconstraints: true\nalignment: true\nquiet: TRUE\n"),
             off = file("off.yml", "normalize: false\nn-best: False\nconstraints: false\nalignment: off\nquiet: No\n");
  parse(translate_table(), {"-m", "x", "-c", on}, options);
  EXPECT_EQ(options.n_best, options.beam_size);
  EXPECT_EQ(options.constraints, LineConstraints::unordered);
  EXPECT_EQ(show_word(options.alignment), "hard");
  EXPECT_TRUE(options.quiet);
  options = {};
  parse(translate_table(), {"-m", "x", "-c", on, off}, options);  // which overrides the first
  EXPECT_EQ(options.n_best, 0);
  EXPECT_EQ(options.normalize, 0);
  EXPECT_EQ(options.constraints, LineConstraints::none);
  EXPECT_EQ(show_word(options.alignment), "none");
  EXPECT_FALSE(options.quiet);
  EXPECT_EQ(error_of("output-sampling: true\n"), "no error");
  EXPECT_EQ(error_of("output-sampling: false\nbeam-size: 3\n"), "no error");
  const std::string marians = "shuffle-in-ram: true\nbert-train-type-embeddings: False\nskip: False\n";
  EXPECT_EQ(error_of(marians), "no error");
  EXPECT_EQ(error_of("beam-size: true\n"), "a.yml, line 1: beam-size: 'true' is not a whole number | ");
  EXPECT_EQ(error_of("normalize: maybe\n"), "a.yml, line 1: normalize: 'maybe' is not a number | ");
}

TEST_F(Yaml, AnEmptyFileSaysNothing) {
  EXPECT_EQ(error_of(""), "no error");
  EXPECT_EQ(error_of("# only a comment\n"), "no error");
}

TEST_F(Yaml, NamesFileLineAndTheNearestOption) {
  EXPECT_EQ(error_of("quiet: true\nbeam-sise: 3\n"),
            "a.yml, line 2: there is no option 'beam-sise' | did you mean beam-size?");
}

TEST_F(Yaml, SaysWhatAValueShouldBe) {
  EXPECT_EQ(error_of("\nbeam-size: many\n"), "a.yml, line 2: beam-size: 'many' is not a whole number | ");
  EXPECT_EQ(error_of("beam-size: 0\n"), "a.yml, line 1: beam-size: 0 is out of range, expected from 1 to 1024 | ");
  EXPECT_EQ(error_of("beam-size: [3, 4]\n"), "a.yml, line 1: beam-size takes one value, found 2: 3 4 | ");
  EXPECT_EQ(error_of("beam-size: {a: 3}\n"), "a.yml, line 1: beam-size: expected a value or a list of values | ");
  EXPECT_EQ(error_of("beam-size:\n"), "a.yml, line 1: beam-size: expected a value or a list of values | ");
  EXPECT_EQ(error_of("model: [[a]]\n"), "a.yml, line 1: model: expected a list of plain values | ");
}

TEST_F(Yaml, RefusesAKeyThatStandsTwiceUnderEitherOfItsNames) {
  EXPECT_EQ(error_of("beam-size: 3\nbeam-size: 3\n"), "a.yml, line 2: 'beam-size' appears twice in the file | ");
  EXPECT_EQ(error_of("model: a\nmodels: b\n"), "a.yml, line 2: 'models' appears twice in the file | ");
}

TEST_F(Yaml, RefusesWhatIsNoMapAndWhatIsNoYaml) {
  EXPECT_EQ(error_of("- beam-size\n"), "a.yml: expected lines of the form 'option: value' | ");
  EXPECT_THAT(error_of("model: [a\n"), testing::StartsWith("a.yml, line 1: not YAML: "));
}

TEST_F(Yaml, RefusesAQuoteThatIsNotClosed) {
  for (const std::string quote : {"\"", "'"})
    for (const std::string end : {"", "\n", "\n\n \n", "\r\n"})
      EXPECT_THAT(error_of("output: " + quote + "abc\nbeam-size: 3" + end), testing::HasSubstr("not YAML: illegal EOF"))
          << quote << end;
}

TEST_F(Yaml, TakesOneDocumentWithABorderBeforeItOrNone) {
  EXPECT_EQ(error_of("beam-size: 3\n---\nbeam-size: 4\n"),
            "a.yml, line 2: a second YAML document begins, expected one | ");
  EXPECT_EQ(error_of("--- {beam-size: 3}\n--- # more\n"),
            "a.yml, line 2: a second YAML document begins, expected one | ");
  EXPECT_EQ(error_of("---\n---\nbeam-size: 3\n"), "a.yml, line 2: a second YAML document begins, expected one | ");
  TranslateCommandOptions options;
  parse(translate_table(), {"-m", "x", "-c", file("b.yml", "# first\n%YAML 1.2\n\n---\nbeam-size: 3 # ---\n")},
        options);
  EXPECT_EQ(options.beam_size, 3);
}

TEST_F(Yaml, TakesNothingAfterTheEndOfTheDocument) {
  for (const std::string end : {"...", "... ", "... # the end", "...\r"}) {
    EXPECT_EQ(error_of("beam-size: 3\n" + end + "\n\nn-best: 2\n"),
              "a.yml, line 4: a second YAML document begins, expected one | ");
    EXPECT_EQ(error_of("beam-size: 3\n" + end + "\n \n# a comment\n"), "no error") << end;
  }
  EXPECT_EQ(error_of("...\n---\nbeam-size: 3\n"), "a.yml, line 2: a second YAML document begins, expected one | ");
  EXPECT_EQ(error_of("word-penalty: 1\n... beam-size: 3\n"),
            "a.yml, line 2: a second YAML document begins, expected one | ");
  EXPECT_THAT(error_of("beam-size: 3\n...n-best: 2\n"), testing::HasSubstr("there is no option '...n-best'"));
}

TEST_F(Yaml, NamesAFileThatIsNotThere) {
  TranslateCommandOptions options;
  EXPECT_THROW(parse(translate_table(), {"-m", "x", "-c", folder / "none.yml"}, options), Error);
}

TEST_F(Yaml, IsNotReadFromStdin) {
  std::filesystem::create_symlink("/dev/stdin", folder / "link.yml");
  std::filesystem::create_directory_symlink("/dev", folder / "devices");
  const Strings paths = {"-",
                         "/dev/stdin",
                         "/dev/fd/0",
                         "/dev/../dev/fd/0",
                         "/proc/self/fd/0",
                         "/proc/thread-self/fd/0",
                         fmt::format("/proc/{}/fd/0", getpid()),
                         folder / "link.yml",
                         folder / "devices/stdin"};
  for (const std::string& path : paths)
    for (const Strings& words : {Strings{"-m", "x", "-c", path}, Strings{"-m", "x", "-c", file("a.yml", ""), path}}) {
      TranslateCommandOptions options;
      EXPECT_EQ(thrown_by([&] { parse(translate_table(), words, options); }).what(),
                fmt::format("--config {} is stdin, expected the name of a file", path));
    }
}

TEST_F(Yaml, IsReadFromAPipeOfTheShell) {
  const FileDescriptor open_file = FileDescriptor::to_read(file("a.yml", "beam-size: 3\n"));
  TranslateCommandOptions options;
  parse(translate_table(), {"-m", "x", "-c", fmt::format("/dev/fd/{}", open_file.number())}, options);
  EXPECT_EQ(options.beam_size, 3);
}

TEST_F(Yaml, TheDumpedFileGivesTheSameOptionsAgain) {
  const Strings arguments = {"-m",
                             "m",
                             "-t",
                             "a, b",
                             "#c",
                             "-v",
                             "v",
                             "w",
                             "--task",
                             "transformer-tiny",
                             "--after",
                             "10e,20Mt",
                             "--valid-metrics",
                             "bleu,chrf",
                             "--lr-schedule",
                             "cosine",
                             "--lr-decay-updates",
                             "9000u",
                             "--dump-config"};
  for (const char* how : {"full", "minimal"}) {
    TrainOptions first, second;
    Strings once = arguments;
    once.push_back(how);
    const auto dump = parse(train_table(), once, first);
    ASSERT_TRUE(dump);
    EXPECT_EQ(parse(train_table(), {"-c", file("dump.yml", *dump), "--dump-config", how}, second), dump);
    EXPECT_EQ(second.dim, 128);
    EXPECT_THAT(second.train_sets, ElementsAre("a, b", "#c"));
    EXPECT_EQ(second.schedule, Schedule::cosine);
  }
}

TEST_F(Yaml, TheMinimalDumpHoldsOnlyWhatIsNoDefault) {
  TranslateCommandOptions options;
  const auto dump = parse(translate_table(), {"-m", "x", "-b", "5", "-n", "0.6", "--dump-config", "minimal"}, options);
  EXPECT_EQ(dump, "model: [x]\nnormalize: 0.6\n");  // 5 is the default beam
}

// Values of a preset do not count as given: a recurrent model is not rejected for the task's Transformer options.
TEST_F(Yaml, ReadsBackWhatWasDumpedOfATaskAndAnotherType) {
  for (const char* task : {"transformer-tiny", "transformer-tiny11", "transformer-big-prenorm"})
    for (const char* how : {"--dump-config=full", "--dump-config=minimal"}) {
      TrainOptions first, second;
      const auto dumped = parse(train_table(), {"--type", "s2s", "--task", task, how}, first);
      ASSERT_TRUE(dumped);
      EXPECT_EQ(parse(train_table(), {"-c", file("dumped.yml", *dumped), how}, second), dumped) << task;
    }
}

}  // namespace
}  // namespace dragoman
