#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace dragoman {

/// The value given for an option, and where: "--beam-size", or "tiny.yml, line 3: beam-size".
struct Assignment {
  Strings words;
  std::string where;
};
using Assignments = std::map<std::string_view, Assignment>;  // by the option's long name

/// Parses a command line. The last value of a scalar wins; repeated lists accumulate. Throws Error for an unknown
/// option (suggesting the nearest), a missing value, and an unexpected argument (with the usage of the command).
Assignments read_command_line(const Strings& arguments, const std::vector<Option>& options, const About& about);

/// Reads a YAML file of `long-name: value` and lists into `into`, overriding its values. Throws Error with file and
/// line.
void read_config(const std::string& path, const std::vector<Option>& options, Assignments& into);

/// The assignments of the files in order, overridden by those of the command line.
Assignments with_configs(const Strings& paths, const std::vector<Option>& options, const Assignments& line);

/// Sets every option that has an assignment. Throws Error that begins with `where`.
void assign(const Assignments& assignments, std::vector<Option>& options);

/// The same for one option only.
void assign_only(std::string_view name, const Assignments& assignments, std::vector<Option>& options);

/// Throws Error for the first required option that is not given.
void require_all(const std::vector<Option>& options);

/// The options as YAML for read_config(): all of them, or only those that differ from their defaults.
std::string to_yaml(const std::vector<Option>& options, bool full);

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second);

/// Long names and aliases, for did_you_mean().
std::vector<std::string> all_names(const std::vector<Option>& options);

}  // namespace dragoman
