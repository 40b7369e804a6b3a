#pragma once
#include <optional>
#include <string>
#include <vector>

#include "train/progress.h"

namespace dragoman {

/// A program that judges translations (--valid-script-path): a command line for the shell, to which `arguments` and
/// the file of translations are added. The first number that it writes to stdout is the figure; more is better.
struct ValidScript {
  std::string command;
  std::vector<std::string> arguments;
};

/// Error when there is no such program.
void require_program(const ValidScript& script);

/// The figure of a file of translations. Empty if the script fails or prints no number, with a warning: a run does
/// not end for that.
std::optional<double> judge(const ValidScript& script, const std::string& translations);

/// The first number in a text that is not inside a word: 45.3 of "chrF2 = 45.3".
std::optional<double> first_number(const std::string& text);

/// A name with what stands for {U}, updates, {E}, the epoch, {B}, batches of the epoch, and {T}, target tokens.
std::string filled_in(std::string name, const Progress& progress);

}  // namespace dragoman
