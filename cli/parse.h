#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace dragoman {

/// What somebody asked an option to be, and where: "--beam-size", or "tiny.yml, line 3: beam-size".
struct Assignment {
  Strings words;
  std::string where;
};
using Assignments = std::map<std::string_view, Assignment>;  // by the option's long name

/// Reads the words of a command line against `options`. A later scalar wins, lists grow. Throws Error for an option
/// that does not exist (with the nearest that does), one without its value, a word that nothing asked for (with the
/// usage of the command).
Assignments read_command_line(const Strings& arguments, const std::vector<Option>& options, const About& about);

/// Reads a YAML file of `long-name: value` and lists into `into`, over what is there. Throws Error with file and line.
void read_config(const std::string& path, const std::vector<Option>& options, Assignments& into);

/// The assignments of the files in their order, then those of the command line over them.
Assignments with_configs(const Strings& paths, const std::vector<Option>& options, const Assignments& line);

/// Gives every option in `options` that has an assignment its value. Throws Error that begins with `where`.
void assign(const Assignments& assignments, std::vector<Option>& options);

/// The same for one of them alone.
void assign_only(std::string_view name, const Assignments& assignments, std::vector<Option>& options);

/// Throws Error for the first option that must be given and is not.
void require_all(const std::vector<Option>& options);

/// The options as a YAML file that read_config() takes: all of them, or only those that differ from their defaults.
std::string to_yaml(const std::vector<Option>& options, bool full);

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second);

/// Long names and aliases, for did_you_mean().
std::vector<std::string> all_names(const std::vector<Option>& options);

}  // namespace dragoman
