#pragma once
#include <atomic>
#include <string>

namespace dragoman {

/// A word as the shell reads it back, whatever characters it has.
std::string quoted_for_shell(const std::string& word);

struct ShellOutput {
  int status = -1;   // as of waitpid(); -1: the shell could not be started, or the program ignores SIGCHLD
  std::string text;  // what was written to stdout until the shell ended
};

/// Runs a command line in a shell, waits until the shell ends, and returns what was written to stdout. Processes that
/// it leaves in the background are not waited for, and can no longer write there. With `group`, the command is a
/// session and a process group of its own, whose number is in `group` meanwhile, else 0: a terminal's Ctrl-C does not
/// end it, and reading from the terminal fails instead of stopping it.
ShellOutput run_in_shell(const std::string& command, std::atomic<int>* group = nullptr);

}  // namespace dragoman
