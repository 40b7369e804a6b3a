#include "train/valid_script.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/shell.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(FirstNumber, IsNoPartOfAWord) {
  EXPECT_EQ(first_number("27.5\n"), 27.5);
  EXPECT_EQ(first_number("BLEU = 27.34, 60.1/34.2 (BP = 1.000)"), 27.34);
  EXPECT_EQ(first_number("chrF2 = 45.3"), 45.3);
  EXPECT_EQ(first_number("tok:13a 9"), 9);
  EXPECT_EQ(first_number("{\"score\": -1.5e1}"), -15);
  EXPECT_EQ(first_number("loading\n.5"), 0.5);
  EXPECT_EQ(first_number(""), std::nullopt);
  EXPECT_EQ(first_number("nan, chrF2, 13a"), std::nullopt);
  EXPECT_EQ(first_number("12,5"), std::nullopt) << "a decimal comma";
  EXPECT_EQ(first_number("12, 5"), 12);
  EXPECT_EQ(first_number("30.1,60.2"), 30.1);
  EXPECT_EQ(first_number("+inf -nan 1.5x 27e - . -. +3"), 3);
  EXPECT_EQ(first_number("--5."), -5);
}

TEST(FirstNumber, MayBeOfAnyLength) {
  EXPECT_EQ(first_number("0." + std::string(200'000, '5') + "e1"), 50.0 / 9);
  EXPECT_EQ(first_number(std::string(200'000, '7')), std::nullopt) << "out of range";
  EXPECT_EQ(first_number(std::string(200'000, '7') + "x"), std::nullopt);
}

TEST(FilledIn, PutsProgressIntoTheName) {
  Progress p;
  p.updates = 8000;
  p.position = {2, 31};
  p.target_tokens = 123456;
  EXPECT_EQ(filled_in("out.{U}-{E}-{B}-{T}.{U}.txt", p), "out.8000-3-31-123456.8000.txt");
  EXPECT_EQ(filled_in("{X}{}", p), "{X}{}");
  p.position = {3, 0};
  p.ended_epoch = {32, 1000};
  EXPECT_EQ(filled_in("{E}-{B}", p), "3-32");
}

struct Script : testing::Test {
  /// A shell script that may be executed.
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = run.files.make(name, "#!/bin/sh\n" + text);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  std::optional<double> judged(const ValidScript& script, const std::string& file) {
    return judge(script, file, run.control.script);
  }
  ToyRun run;
};

TEST_F(Script, GetsItsArgumentsAndThenTheFileWhateverTheyHold) {
  const std::string file = run.files.make("it's a file", "one\ntwo\n");
  const std::string script = write("count", "echo \"$#$1$2\" > " + run.files / "seen" + "; wc -l < \"$3\"");
  EXPECT_EQ(judged({script, {"a b", "$HOME'"}}, file), 2);
  EXPECT_EQ(read_file(run.files / "seen"), "3a b$HOME'\n");
  EXPECT_EQ(judged({"sh " + script, {"", ""}}, file), 2);
}

TEST_F(Script, ThatFailsGivesNoFigureButAWarning) {
  EXPECT_EQ(judged({write("failing", "echo 5; exit 3"), {}}, "file"), std::nullopt);
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("failing: the script failed with exit code 3; training continues")));
  EXPECT_EQ(judged({write("killed", "kill -9 $$"), {}}, "file"), std::nullopt);
  EXPECT_THAT(run.log.text(), HasSubstr("the script failed with exit code 137"));
  EXPECT_EQ(judged({write("mute", "echo no figure today"), {}}, "file"), std::nullopt);
  EXPECT_THAT(run.log.text(), HasSubstr("the script printed no number, but 'no figure today'; training continues"));
  EXPECT_EQ(judged({write("wordy", "echo; echo ' none '; echo at all"), {}}, "file"), std::nullopt);
  EXPECT_THAT(run.log.text(), HasSubstr("the script printed no number, but 'none'; training continues"));
}

// A signal to the group of the run, such as Ctrl-C, must not reach it.
TEST_F(Script, IsAProcessGroupOfItsOwnWhoseNumberIsKnownWhileItRuns) {
  const std::string begun = run.files / "begun";
  const std::string script =
      write("group", "cut -d' ' -f5 /proc/$$/stat\necho > " + begun + "\nwhile test -e " + begun + "; do :; done");
  int while_it_ran = 0;
  const std::jthread watcher([&] {
    while (!fs::exists(begun)) std::this_thread::yield();
    // The script may have begun before the run has its number.
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (while_it_ran == 0 && std::chrono::steady_clock::now() < latest) while_it_ran = run.control.script;
    fs::remove(begun);
  });
  const auto group = judged({script, {}}, "file");
  EXPECT_EQ(group, while_it_ran);
  EXPECT_NE(group, getpgrp());
  EXPECT_EQ(run.control.script, 0);
}

TEST_F(Script, MustBeAProgram) {
  const auto complaint = [&](const std::string& command) {
    return message_of([&] { require_program({command, {}}); });
  };
  EXPECT_EQ(complaint("sh any.sh"), "");
  EXPECT_EQ(complaint(write("good", "")), "");
  EXPECT_THAT(complaint("no-such-program"), HasSubstr("--valid-script-path no-such-program: there is no such program"));
  EXPECT_THAT(complaint(run.files / "nowhere.sh"),
              AllOf(HasSubstr("there is no such program"), HasSubstr("hint: give its full path")));
  {
    const std::filesystem::path before = std::filesystem::current_path();
    write("here.sh", "echo 1");
    std::filesystem::current_path(run.files / ".");
    const std::string said = complaint("here.sh --all");
    std::filesystem::current_path(before);
    EXPECT_THAT(said, HasSubstr("hint: the file in the current folder is --valid-script-path \"./here.sh --all\""));
  }
  const std::string plain = run.files.make("plain.sh", "echo 1\n");
  EXPECT_THAT(complaint(plain), AllOf(HasSubstr("the file is not executable"), HasSubstr("hint: chmod +x " + plain)));
}

// For the shell, "exec" is a command, "if" a word and an unknown variable nothing.
TEST_F(Script, MayBeWhateverTheShellTakes) {
  const std::string script = write("my script", "wc -l < \"$1\""), quoted = quoted_for_shell(script);
  const std::string file = run.files.make("translations", "one\ntwo\n");
  for (const std::string& command :
       {quoted, "\"" + script + "\"", "LC_ALL=C sh " + quoted, "exec " + quoted, "$NO_SUCH_VARIABLE " + quoted,
        "true;sh " + quoted, "if false; then :; fi; " + quoted}) {
    EXPECT_EQ(message_of([&] { require_program({command, {}}); }), "");
    EXPECT_EQ(judged({command, {}}, file), 2) << command;
  }
  EXPECT_EQ(message_of([] { require_program({"~/score.sh", {}}); }), "") << "only the shell knows the folder";
}

// A TensorBoard, for example.
TEST_F(Script, MayLeaveAProcessInTheBackground) {
  const std::string pid = run.files / "pid";
  const std::string script = write("leaves", "sleep 300 &\necho $! > " + pid + "\necho 12.5");
  EXPECT_EQ(judged({script, {}}, "file"), 12.5);
  EXPECT_EQ(std::system(("kill $(cat " + pid + ")").c_str()), 0) << "it was waited for";
}

// What the script prints is the number of its own calls, so each validation is better than the one before.
struct ScriptedRun : Script {
  ScriptedRun() {
    const std::string calls = run.files / "calls";
    run.setup.training.valid_metrics = {ValidMetric::translation};
    run.setup.training.valid_freq = {2, Frequency::updates};
    run.setup.training.valid_script_path = write("judge", "echo x >> " + calls + "; wc -l < " + calls);
  }
};

TEST_F(ScriptedRun, JudgesTheTranslationsAndMoreIsBetter) {
  const Progress p = run.train_until(6);
  EXPECT_EQ(p.best.at("translation"), 3);
  EXPECT_EQ(p.stalled.at("translation"), 0);
  EXPECT_THAT(run.log.text(), HasSubstr("[valid] Ep. 1 : Up. 6 : translation : 3 : new best"));
}

TEST_F(ScriptedRun, KeepsTheTranslationsUnderANameForEach) {
  run.setup.training.valid_metrics = {ValidMetric::bleu};
  run.setup.training.valid_script_path.clear();
  run.setup.training.valid_translation_output = run.files / "valid.{U}.txt";
  run.train_until(4);
  for (const char* name : {"valid.2.txt", "valid.4.txt"}) {
    const std::string text = read_file(run.files / name);
    EXPECT_EQ(std::ranges::count(text, '\n'), 20) << name;
  }
}

TEST_F(ScriptedRun, HandsTheKeptFileToTheScript) {
  run.setup.training.valid_translation_output = run.files / "kept.{E}";
  run.setup.training.valid_script_path = write("last", "echo 1 \"$1\"; echo \"$1\" > " + run.files / "seen");
  run.train_until(2);
  EXPECT_EQ(read_file(run.files / "seen"), run.files / "kept.1" + "\n");
}

TEST_F(ScriptedRun, ContinuesWithoutAFigureOfTheScript) {
  run.setup.training.valid_script_path = write("broken", "exit 1");
  run.setup.training.valid_metrics = {ValidMetric::translation, ValidMetric::cross_entropy};
  run.setup.training.early_stopping = 1;
  const Progress p = run.train_until(6);
  EXPECT_EQ(p.updates, 6);
  EXPECT_FALSE(p.stalled.contains("translation"));
  EXPECT_FALSE(p.best.contains("translation"));
  EXPECT_TRUE(p.best.contains("cross-entropy"));
}

TEST_F(ScriptedRun, ContinuesWhenTranslationsCannotBeStored) {
  run.setup.training.valid_translation_output = run.files / "later/{U}";
  EXPECT_THAT(message_of([&] { run.train_until(2); }), HasSubstr("--valid-translation-output"));
  fs::create_directory(run.files / "later");
  run.log.listen([&](const std::string& line) {
    if (line.find("Up. 2 ") != std::string::npos) fs::remove_all(run.files / "later");
  });
  EXPECT_THAT(message_of([&] { run.train_until(4); }),
              HasSubstr("not all output of the run was written: --valid-translation-output: "));
  fs::create_directory(run.files / "later");
  EXPECT_EQ(run.train_until(4).best.at("translation"), 2);
  EXPECT_THAT(run.log.text(), HasSubstr("training continues without --valid-translation-output"));
}

// The model that a call ended with is the best one, although the state resumes from the validation before it.
TEST_F(ScriptedRun, DoesNotReplaceTheBestModelOfAnEarlierCallByAWorseOne) {
  const std::string figures = run.files.make("figures", "1\n9\n5\n3\n");
  const std::string calls = run.files / "calls";
  run.setup.training.valid_script_path =
      write("listed", "echo x >> " + calls + "; sed -n $(wc -l < " + calls + ")p " + figures);
  run.setup.training.valid_freq = {4, Frequency::updates};
  run.setup.training.keep_best = 1;
  EXPECT_EQ(run.train_until(6).best.at("translation"), 1);
  const std::string best = run.model_bytes();
  const Progress p = run.train_until(9);
  EXPECT_EQ(p.best.at("translation"), 5) << "early stopping is as in a run that was not ended";
  EXPECT_EQ(p.kept.values.at("translation"), 9);
  EXPECT_TRUE(read_file(best_path(run.setup.training.model, "translation")) == best);
}

TEST_F(ScriptedRun, ReplacesTheBestModelOfAnEarlierCallIfThatWasJudgedByAnotherScript) {
  run.setup.training.valid_freq = {4, Frequency::updates};
  run.setup.training.keep_best = 1;
  run.setup.training.valid_script_path = write("generous", "echo 9");
  run.train_until(3);
  run.setup.training.valid_script_path = write("strict", "echo 2");
  run.train_until(4);
  EXPECT_THAT(run.log.text(), HasSubstr("its best value so far, 9, is forgotten"));
  EXPECT_TRUE(read_file(best_path(run.setup.training.model, "translation")) == run.model_bytes());
}

}  // namespace
}  // namespace dragoman
