#pragma once
#include <map>
#include <string>
#include <vector>

#include "options/findings.h"
#include "options/flags.h"

namespace dragoman {

/// The value given for an option, and where: "--beam-size", or "tiny.yml, line 3: beam-size".
struct Assignment {
  Strings words;
  std::string where;
  bool refused = false;  // a problem that is known already; the option is not missing
};
using Assignments = std::map<std::string_view, Assignment>;  // by the option's long name

/// Reads the words of a command line against `options`. A later scalar wins, lists grow. Problems are an option that
/// does not exist (with the nearest that does, or what another toolkit's is called here), one without its value, a word
/// that nothing asked for (with the usage of the command).
Assignments read_command_line(const Strings& arguments, const std::vector<Option>& options, const About& about,
                              Findings& findings);

/// Reads a YAML file of `long-name: value` and lists into `into`, overriding what it contains. Problems have file and
/// line.
void read_config(const std::string& path, const std::vector<Option>& options, Assignments& into, Findings& findings);

/// Turns values that another toolkit has for these options into ours, or refuses them.
void take_foreign_values(Assignments& assignments, Findings& findings);

/// The assignments of the files in their order, then those of the command line over them.
Assignments with_configs(const Strings& paths, const std::vector<Option>& options, const Assignments& line,
                         Findings& findings);

/// Gives every option in `options` that has an assignment its value. Problems begin with `where`.
void assign(Assignments& assignments, std::vector<Option>& options, Findings& findings);

/// The same for one of them alone.
void assign_only(std::string_view name, Assignments& assignments, std::vector<Option>& options, Findings& findings);

/// Adds a problem for each option that must be given and is not.
void add_missing(const std::vector<Option>& options, Findings& findings);

/// The options as YAML for read_config(): all of them, or only those that differ from their defaults.
std::string to_yaml(const std::vector<Option>& options, bool full);

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second);

/// The option of this name or alias; null if there is none.
const Option* find(const std::vector<Option>& options, std::string_view name);

/// Long names and aliases, for did_you_mean().
std::vector<std::string> all_names(const std::vector<Option>& options);

}  // namespace dragoman
