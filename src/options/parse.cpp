#include "options/parse.h"

#include <fmt/format.h>

#include <cctype>

#include "base/error.h"
#include "base/symbolic_links.h"
#include "base/words.h"
#include "options/foreign.h"

namespace dragoman {
namespace {

// "16000" of "16000u" and "16ku", where the number counts updates.
std::string without_unit(const std::string& word, std::string_view unit) {
  if (unit.empty() || word.size() < 2 || !std::isalpha(uint8_t(word.back()))) return word;
  Frequency frequency;
  try {
    frequency = parse_frequency(word);
  } catch (const Error&) {
    return word;  // which is not a number either
  }
  if (frequency.unit == Frequency::updates) return std::to_string(frequency.count);
  throw Error(fmt::format("'{}' is not a number of updates", word),
              "an update has about as many target tokens as --mini-batch-words times --optimizer-delay");
}

// An empty list leaves an option unset.
void set_value(Option& option, const Assignment& assignment) {
  const Strings& words = assignment.words;
  const std::string& where = assignment.where;
  if (words.empty()) return;
  if (!option.list && words.size() > 1)
    throw Error(fmt::format("{} takes one value, found {}: {}", where, words.size(), fmt::join(words, " ")));
  try {
    Strings bare;
    for (const std::string& word : words) bare.push_back(without_unit(word, option.unit));
    option.set(bare);
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", where, e.what()), e.hint());
  }
}

int64_t whole_number(const Assignment& given) {
  require(!given.words.empty(), "{} needs a value", given.where);
  require(given.words.size() == 1, "{} takes one number, found {}: {}", given.where, given.words.size(),
          fmt::join(given.words, " "));
  try {
    int64_t number = 0;
    read_word(number, given.words[0], {1, 1e15});
    return number;
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", given.where, e.what()), e.hint());
  }
}

// Marian's files have `after: 0e`, no limit, besides the limit of another name.
void take_renamed(Assignments& assignments, Findings& findings) {
  for (const Foreign& row : marian_options()) {
    const auto given = row.becomes.empty() ? Assignments::node_type() : assignments.extract(row.names);
    if (given.empty()) continue;
    findings.attempt([&] {
      const std::string number = show_word(whole_number(given.mapped()));
      Assignment& taker = assignments[row.becomes];
      std::erase(taker.words, "0e");
      taker.words.push_back(number + std::string(row.unit));
      if (taker.where.empty()) taker.where = given.mapped().where;
    });
  }
}

}  // namespace

bool Option::takes_files() const {
  if (files != FileWords::as_value) return true;
  for (const std::string_view kind : {"FILE", "MODEL", "FOLDER", "SOURCE", "OUT"})
    if (value.starts_with(kind)) return true;
  return false;
}

const Option* find(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options)
    if (option.name == name || (!option.alias.empty() && option.alias == name)) return &option;
  return nullptr;
}

const Option& Given::option(std::string_view name) const {
  const Option* option = find(options_, name);
  invariant(option, "Given: the table has no such option");
  return *option;
}

bool Given::operator()(std::string_view name) const { return option(name).given; }

std::string_view Given::file_of(std::string_view name) const { return option(name).file; }

bool Given::changed(std::string_view name) const {
  const Option& option = this->option(name);
  return option.given && option.show() != option.standard;
}

bool Given::turned_on(std::string_view name) const {
  const Strings value = option(name).show();
  return changed(name) && value != Strings{"0"} && value != Strings{"false"};
}

void check_pair(std::string_view option, const std::vector<std::string>& files, Findings& findings) {
  findings.expect(files.empty() || files.size() == 2, "--{} takes two files, source and target, found {}: {}", option,
                  files.size(), fmt::join(files, " "));
  findings.expect(files.size() != 2 || files[0] != "-" || files[1] != "-", "--{}: only one side can be '-' (stdin)",
                  option);
}

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<std::string> all_names(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) {
    names.emplace_back(option.name);
    if (!option.alias.empty()) names.emplace_back(option.alias);
  }
  return names;
}

void take_foreign_values(Assignments& assignments, Findings& findings) {
  take_renamed(assignments, findings);
  for (auto& [name, assignment] : assignments) {
    auto& [words, where, refused, file] = assignment;
    const ForeignValue* row = refused ? nullptr : foreign_value(name, words, findings.command());
    if (!row) continue;
    if (!row->answer.empty()) {
      findings.add(
          Error(fmt::format("{} '{}' is not supported", where, fmt::join(words, " ")), std::string(row->answer)));
      refused = true;
    } else if (row->becomes.empty()) {
      words.clear();  // as if not given; it still overrides what an earlier file gives
    } else {
      words = {std::string(row->becomes)};
    }
  }
}

Strings read_truth_value(const Option& option, const Strings& words) {
  const std::string implicit(option.implicit);
  if (implicit.empty() || switch_word(implicit) || words.size() != 1) return words;
  const std::optional<bool> on = switch_word(words[0]);
  if (!on) return words;
  if (*on) return {implicit};
  // Not the default, which a preset may change, or which may be on, as that of --normalize.
  return is_digit(implicit[0]) ? Strings{"0"} : Strings();
}

Assignments with_configs(const Strings& paths, const std::vector<Option>& options, const Assignments& line,
                         Findings& findings) {
  Assignments all;
  for (const std::string& path : paths)
    findings.attempt([&] {
      // Its reader would leave no text to the command, and no options to other ranks.
      if (path == "-" || leads_to_stdin(path))
        throw Error(fmt::format("--config {} is stdin, expected the name of a file", path),
                    "write the options to a file, or give them on the command line");
      read_config(path, options, all, findings);
    });
  for (const auto& [name, assignment] : line) all[name] = assignment;
  return all;
}

void assign_only(std::string_view name, Assignments& assignments, std::vector<Option>& options, Findings& findings) {
  const auto found = assignments.find(name);
  for (Option& option : options) {
    if (option.name != name || found == assignments.end()) continue;
    Assignment& assignment = found->second;
    option.given = assignment.refused || !assignment.words.empty();
    option.file = assignment.file;
    option.refused = assignment.refused || !findings.attempt([&] { set_value(option, assignment); });
    assignment.refused = option.refused;
  }
}

void assign(Assignments& assignments, std::vector<Option>& options, Findings& findings) {
  for (const Option& option : options) assign_only(option.name, assignments, options, findings);
}

void add_missing(const std::vector<Option>& options, Findings& findings) {
  for (const Option& option : options) {
    if (!option.required) continue;
    if (option.given && !option.refused && option.show() == Strings{""})
      findings.add(Error(fmt::format("--{} is empty, expected {}", option.name, option.value)));
    if (option.given) continue;
    const std::string name =
        option.positional ? std::string(option.value) : fmt::format("--{} {}", option.name, option.value);
    const std::string choices = option.choices.empty() ? "" : fmt::format(" ({})", option.choices);
    findings.add(Error(fmt::format("{} is missing: {}{}", name, option.help, choices)));
  }
}

}  // namespace dragoman
