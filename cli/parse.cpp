#include "cli/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "base/error.h"
#include "cli/marian.h"
#include "cli/suggest.h"

namespace dragoman {
namespace {

namespace po = boost::program_options;

const Option* find(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options)
    if (option.name == name || (!option.alias.empty() && option.alias == name)) return &option;
  return nullptr;
}

// The option that `argument` names ("--normalize", "-n"); null if it also holds a value.
const Option* named_by(const std::vector<Option>& options, const std::string& argument) {
  if (argument.starts_with("--")) return find(options, std::string_view(argument).substr(2));
  if (argument.size() != 2 || argument[0] != '-') return nullptr;
  for (const Option& option : options)
    if (option.letter == argument[1]) return &option;
  return nullptr;
}

// "devices" of "--devices=0", "d" of "-d" and "-d0"; empty if it is not an option.
std::string name_in(const std::string& argument) {
  if (argument.starts_with("--")) return argument.substr(2, argument.find('=') - 2);
  return argument.size() > 1 && argument[0] == '-' ? argument.substr(1, 1) : "";
}

// Reports all unsupported Marian options at once.
void refuse_left_out(const Strings& arguments, const std::vector<Option>& options) {
  std::vector<const LeftOut*> found;
  Strings shown;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name = name_in(argument), dashes = name.size() == 1 ? "-" : "--";
    const LeftOut* option = left_out(name);
    if (!option || named_by(options, dashes + name) || std::ranges::count(found, option) > 0) continue;
    found.push_back(option);
    shown.push_back(dashes + name);
  }
  if (!found.empty()) throw Error(fmt::format("there is no option {}", fmt::join(shown, ", ")), advice_on(found, "--"));
}

template <class F>
bool succeeds(const F& f) {
  try {
    f();
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Whether the word after an option with an optional value is its value: a choice, a boolean, a number (even one out of
// range) or whatever its type reads; for a list any word that is not an option.
bool is_value_of(const Option& option, const std::string& word) {
  if (option.list) return !word.starts_with('-');
  static const std::string truths = "true, false, yes, no, on, off";
  const std::string& choices = option.boolean ? truths : option.choices;
  if (!choices.empty()) return fmt::format(", {},", choices).find(fmt::format(" {},", word)) != std::string::npos;
  double number;
  return succeeds([&] { read_word(number, word, {}); }) || succeeds([&] { option.set({word}); });
}

bool is_negative_number(const std::string& word) {
  double number;
  return word.starts_with('-') && succeeds([&] { read_word(number, word, {}); });
}

// Boost takes an optional value only after '='. So each option with an optional value gets it that way: the next
// argument if it is a value, else the implicit one. Then `--normalize 0.6` and `--quiet file` both work.
// Boost also takes negative numbers in a list for options, so they are prefixed with the name of their option.
Strings with_values_attached(const Strings& arguments, const std::vector<Option>& options) {
  Strings attached;
  const Option* list = nullptr;  // the list option that the next words belong to
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      attached.insert(attached.end(), arguments.begin() + i, arguments.end());
      break;
    }
    if (list && is_negative_number(arguments[i])) {
      if (named_by(options, attached.back())) attached.pop_back();
      attached.push_back(fmt::format("--{}={}", list->name, arguments[i]));
      continue;
    }
    const Option* option = named_by(options, arguments[i]);
    if (option || arguments[i].starts_with('-')) list = option && option->list ? option : nullptr;
    if (!option || !option->stands_alone()) {
      attached.push_back(arguments[i]);
      continue;
    }
    const bool follows = i + 1 < arguments.size() && is_value_of(*option, arguments[i + 1]);
    if (follows && option->list) {  // Boost assigns it all words up to the next option
      attached.push_back(arguments[i]);
      continue;
    }
    const std::string value = follows ? arguments[++i] : option->boolean ? "true" : std::string(option->implicit);
    attached.push_back(fmt::format("--{}={}", option->name, value));
  }
  return attached;
}

po::options_description describe(const std::vector<Option>& options) {
  po::options_description description;
  for (const Option& option : options) {
    auto* value = po::value<Strings>();
    if (option.list) value->multitoken();
    const std::string letter = option.letter ? fmt::format(",{}", option.letter) : "";
    description.add_options()(fmt::format("{}{}", option.name, letter).c_str(), value);
    if (!option.alias.empty()) {
      auto* same = po::value<Strings>();
      if (option.list) same->multitoken();
      description.add_options()(std::string(option.alias).c_str(), same);
    }
  }
  return description;
}

po::positional_options_description positions(const std::vector<Option>& options) {
  po::positional_options_description positions;
  bool endless = false;
  for (const Option& option : options) {
    if (!option.positional) continue;
    positions.add(std::string(option.name).c_str(), option.list ? -1 : 1);
    endless |= option.list;
  }
  if (!endless) positions.add("(surplus)", -1);  // not an option: read_command_line() reports the word
  return positions;
}

std::vector<po::option> split(const Strings& arguments, const std::vector<Option>& options) {
  using namespace po::command_line_style;
  const auto description = describe(options);
  const auto positional = positions(options);
  try {
    return po::command_line_parser(arguments)
        .options(description)
        .positional(positional)
        .style(unix_style & ~allow_guessing)
        .run()
        .options;
  } catch (const po::unknown_option& e) {
    const std::string name = e.get_option_name(), bare = name.substr(name.find_first_not_of('-'));
    throw Error(fmt::format("there is no option {}", name), advice_on(bare, all_names(options), "--"));
  } catch (const po::invalid_command_line_syntax& e) {
    fail("{} needs a value", e.get_option_name());
  } catch (const po::error& e) {
    fail("the command line: {}", e.what());
  }
}

// A surplus word after an option with an optional value was probably meant as its value.
[[noreturn]] void refuse_surplus(const std::string& word, const Strings& arguments, const std::vector<Option>& options,
                                 const About& about) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const Option* before = arguments[i] == word ? named_by(options, arguments[i - 1]) : nullptr;
    if (!before || !before->stands_alone()) continue;
    require(!before->boolean, "--{} takes no value, found '{}'", before->name, word);
    try {
      before->set({word});
    } catch (const Error& e) {
      throw Error(fmt::format("--{}: {}", before->name, e.what()), e.hint());
    }
  }
  throw Error(fmt::format("unexpected argument '{}'", word),
              fmt::format("usage: dragoman {} {}", about.name, about.usage));
}

void check_word_count(const Option& option, const Strings& words, const std::string& where) {
  require(option.list || words.size() == 1, "{} takes one value, found {}: {}", where, words.size(),
          fmt::join(words, " "));
}

std::string without_unit(std::string word, std::string_view unit) {
  if (!unit.empty() && word.size() > unit.size() && word.ends_with(unit)) word.resize(word.size() - unit.size());
  return word;
}

}  // namespace

const Option& Given::option(std::string_view name) const {
  const Option* option = find(options_, name);
  invariant(option, "Given: asked for an option that the table has");
  return *option;
}

bool Given::operator()(std::string_view name) const { return option(name).given; }

bool Given::changed(std::string_view name) const {
  const Option& asked = option(name);
  return asked.given && asked.show() != asked.standard;
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

Assignments read_command_line(const Strings& arguments, const std::vector<Option>& options, const About& about) {
  refuse_left_out(arguments, options);
  Assignments assignments;
  for (const po::option& found : split(with_values_attached(arguments, options), options)) {
    const Option* option = find(options, found.string_key);
    if (!option) refuse_surplus(found.value.at(0), arguments, options, about);
    Assignment& assignment = assignments[option->name];
    assignment.where = found.position_key >= 0 ? std::string(option->value) : fmt::format("--{}", option->name);
    if (!option->list) assignment.words.clear();
    assignment.words.insert(assignment.words.end(), found.value.begin(), found.value.end());
  }
  return assignments;
}

Assignments with_configs(const Strings& paths, const std::vector<Option>& options, const Assignments& line) {
  Assignments all;
  for (const std::string& path : paths) read_config(path, options, all);
  for (const auto& [name, assignment] : line) all[name] = assignment;
  return all;
}

void assign_only(std::string_view name, const Assignments& assignments, std::vector<Option>& options) {
  const auto found = assignments.find(name);
  if (found != assignments.end()) assign({*found}, options);
}

void assign(const Assignments& assignments, std::vector<Option>& options) {
  for (Option& option : options) {
    const auto found = assignments.find(option.name);
    if (found == assignments.end()) continue;
    const auto& [words, where] = found->second;
    check_word_count(option, words, where);
    Strings bare;
    for (const std::string& word : words) bare.push_back(without_unit(word, option.unit));
    try {
      option.set(bare);
    } catch (const Error& e) {
      throw Error(fmt::format("{}: {}", where, e.what()), e.hint());
    }
    option.given = !words.empty();
  }
}

void require_all(const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (!option.required) continue;
    require(!option.given || option.show() != Strings{""}, "--{} is empty, expected {}", option.name, option.value);
    if (option.given) continue;
    const std::string name =
        option.positional ? std::string(option.value) : fmt::format("--{} {}", option.name, option.value);
    const std::string choices = option.choices.empty() ? "" : fmt::format(" ({})", option.choices);
    throw Error(fmt::format("{} is missing: {}{}", name, option.help, choices), "see --help");
  }
}

}  // namespace dragoman
