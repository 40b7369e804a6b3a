#pragma once
#include <map>
#include <string>
#include <vector>

#include "options/findings.h"
#include "options/flags.h"

namespace dragoman {

/// The value given for an option, and its origin: "--beam-size", or "tiny.yml, line 3: beam-size".
struct Assignment {
  Strings words;
  std::string where;
  bool refused = false;   // a problem is already reported, so the option does not count as missing
  std::string file = {};  // "tiny.yml:3"; empty: the command line gives it
};
using Assignments = std::map<std::string_view, Assignment>;  // by the option's long name, or Foreign::names

/// Reads the words of a command line against `options`. A later scalar replaces an earlier one; lists are extended.
/// Problems are unknown options (with the nearest existing one, or the equivalent of another toolkit's option), missing
/// values, and unexpected words (with the usage of the command).
Assignments read_command_line(const Strings& arguments, const std::vector<Option>& options, const About& about,
                              Findings& findings);

/// Reads a YAML file of `long-name: value` and lists into `into`, overriding its values. Problems name file and line.
void read_config(const std::string& path, const std::vector<Option>& options, Assignments& into, Findings& findings);

/// What words mean to an option that may stand alone: true is as if it stood alone, false is
/// 0 for an option whose value is a number, else as if it were not given. Other words, and those of other options, mean
/// themselves.
Strings read_truth_value(const Option& option, const Strings& words);

/// Converts another toolkit's values of these options into ours, or refuses them. What options of other names give is
/// added to the values of ours.
void take_foreign_values(Assignments& assignments, Findings& findings);

/// The assignments of the files in order, overridden by those of the command line. Stdin is a problem.
Assignments with_configs(const Strings& paths, const std::vector<Option>& options, const Assignments& line,
                         Findings& findings);

/// Sets every option in `options` that has an assignment. Problems begin with `where`.
void assign(Assignments& assignments, std::vector<Option>& options, Findings& findings);

/// The same for a single option.
void assign_only(std::string_view name, Assignments& assignments, std::vector<Option>& options, Findings& findings);

/// Adds a problem for each required option that is not given.
void add_missing(const std::vector<Option>& options, Findings& findings);

/// The options as YAML for read_config(): all of them, or only those that differ from their defaults.
std::string to_yaml(const std::vector<Option>& options, bool full);

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second);

/// The option of this name or alias; null if there is none.
const Option* find(const std::vector<Option>& options, std::string_view name);

/// Long names and aliases, for did_you_mean().
std::vector<std::string> all_names(const std::vector<Option>& options);

}  // namespace dragoman
