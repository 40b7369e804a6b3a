#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "train/progress.h"

namespace dragoman {

/// A program that scores translations (--valid-script-path): a shell command line, to which `arguments` and the
/// translation file are appended. The first number that it writes to stdout is the value; higher is better.
struct ValidScript {
  std::string command;
  std::vector<std::string> arguments;
};

/// Error if the command begins with the name of a program that is not there. What only the shell can tell, such as
/// quotes and variables, is not checked.
void require_program(const ValidScript& script);

/// The value for a translation file. If the script fails or prints no number, warns and returns nullopt, since that
/// should not end a run. The script is a process group of its own, so that a signal that asks the run to stop lets it
/// finish; `group` is its number meanwhile. What it leaves in the background is not waited for.
std::optional<double> judge(const ValidScript& script, const std::string& translations, std::atomic<int>& group);

/// The first number in a text that is not part of a word: 45.3 in "chrF2 = 45.3". None if it has a decimal comma.
std::optional<double> first_number(const std::string& text);

/// Replaces {U} in a name by the number of updates, {E} by the epoch, {B} by the batches of the epoch and {T} by the
/// target tokens.
std::string filled_in(std::string name, const Progress& progress);

}  // namespace dragoman
