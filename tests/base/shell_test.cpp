#include "base/shell.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

// A command that ends as soon as a file is gone, or after a minute.
std::string until_gone(const std::string& file) {
  return "for i in $(seq 600); do test -e " + file + " || exit; sleep 0.1; done";
}

TEST(Shell, ReadsQuotedWordsBackWhateverTheyHold) {
  for (const std::string word : {"", "a b", "it's", R"($HOME `ls` "x" \ *)", "'''", "a\nb"})
    EXPECT_EQ(run_in_shell("printf '%s' " + quoted_for_shell(word)).text, word);
}

TEST(Shell, TellsHowItEnded) {
  const ShellOutput failed = run_in_shell("echo 5; exit 3");
  EXPECT_EQ(failed.text, "5\n");
  EXPECT_EQ(WEXITSTATUS(failed.status), 3);
  EXPECT_EQ(WTERMSIG(run_in_shell("kill -9 $$").status), 9);
}

TEST(Shell, GivesAllOfALongOutput) {
  EXPECT_EQ(run_in_shell(R"(head -c 3000000 /dev/zero | tr '\0' x)").text, std::string(3'000'000, 'x'));
}

TEST(Shell, MayCloseItsOutputLongBeforeItEnds) {
  const ShellOutput output = run_in_shell("echo 1; exec >&-; sleep 0.2; exit 4");
  EXPECT_EQ(output.text, "1\n");
  EXPECT_EQ(WEXITSTATUS(output.status), 4);
}

// What is in the pipe when the shell ends is not lost, and what keeps the pipe open is not waited for.
TEST(Shell, DoesNotWaitForWhatItLeavesInTheBackground) {
  const TemporaryFolder folder;
  const std::string file = folder.make("runs", "");
  const auto begin = std::chrono::steady_clock::now();
  const ShellOutput output = run_in_shell("(" + until_gone(file) + R"() & head -c 60000 /dev/zero | tr '\0' x)");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, std::string(60'000, 'x'));
}

TEST(Shell, DoesNotReadForEverWhatTheBackgroundWrites) {
  const ShellOutput output = run_in_shell("echo begin; timeout 60 yes 2>/dev/null &");
  EXPECT_EQ(output.status, 0);
  EXPECT_TRUE(output.text.starts_with("begin\n"));
  EXPECT_LT(output.text.size(), 10'000'000);
}

TEST(Shell, IsAGroupOfItsOwnOnlyIfAskedFor) {
  std::atomic<int> group = 0;
  const char* const group_of_shell = "cut -d' ' -f5 /proc/$$/stat";
  const std::string ours = std::to_string(getpgrp()) + "\n";
  EXPECT_EQ(run_in_shell(group_of_shell).text, ours);
  EXPECT_NE(run_in_shell(group_of_shell, &group).text, ours);
  EXPECT_EQ(group, 0);
}

}  // namespace
}  // namespace dragoman
