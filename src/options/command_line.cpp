#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "options/foreign.h"
#include "options/parse.h"
#include "options/suggest.h"

namespace dragoman {
namespace {

template <class F>
bool succeeds(const F& f) {
  try {
    f();
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool is_number(const std::string& word) {
  double number;
  return succeeds([&] { read_word(number, word, {}); });
}

// Whether a word after an option with an optional value is that value: one of its choices, a truth value, a number
// (possibly out of range) or another word that its type can read; for a list, any word.
bool is_value_of(const Option& option, const std::string& word) {
  if (option.list) return true;
  if (option.boolean) return switch_word(word).has_value();
  const std::string& choices = option.choices;
  if (!choices.empty()) return fmt::format(", {},", choices).find(fmt::format(" {},", word)) != std::string::npos;
  return is_number(word) || succeeds([&] { option.set({word}); });
}

class CommandLine {
 public:
  CommandLine(const std::vector<Option>& options, const About& about, Findings& findings)
      : options_(options), about_(about), findings_(findings) {
    for (const Option& option : options)
      if (option.positional) positionals_.push_back(&option);
  }

  Assignments read(const Strings& arguments) {
    bool only_words = false;
    for (const std::string& argument : arguments) {
      if (only_words || !begins_option(argument))
        take_word(argument);
      else if (argument == "--")
        only_words = true, finish_option();
      else
        begin_option(argument);
    }
    finish_option();
    if (!surplus_.empty())
      findings_.add_unread(Error(fmt::format("unexpected argument '{}'", fmt::join(surplus_, " ")),
                                 fmt::format("{}{}usage: dragoman {} {}", about_.stray,
                                             about_.stray.empty() ? "" : "; ", about_.name, about_.usage)));
    return std::move(assignments_);
  }

 private:
  // A negative number is a value if a value may follow. Marian's --sentencepiece-options takes options as its value.
  bool begins_option(const std::string& word) const {
    if (word.size() < 2 || word[0] != '-') return false;
    if (option_ && option_->name == "sentencepiece-options" && count_ == 0) return false;
    const bool takes_words = !unknown_.empty() || (option_ && (option_->list || count_ == 0));
    return !takes_words || !is_number(word);
  }

  // "--name", "--name=value", "-l", "-lvalue". Other toolkits also have long names with one dash: "-src", "-sl". As a
  // letter with a value, "-output" would write to a file named "utput". A letter of another toolkit has no value but a
  // number there: "-w9000".
  void begin_option(const std::string& argument) {
    finish_option();
    const bool is_long = argument.starts_with("--");
    const std::string word = argument.substr(1, argument.find('=') - 1);
    if (!is_long && word.size() > 1 && find(options_, word)) {
      findings_.add(Error(fmt::format("there is no option -{}", word), fmt::format("write --{}", word)));
      return begin_option("-" + argument);
    }
    const bool foreign = !is_long && (argument.size() > 3 || !with_letter(argument[1])) &&
                         foreign_option(argument.substr(1), about_.name);
    const bool whole = foreign || (!is_long && !with_letter(argument[1]) && !is_number(argument.substr(2)));
    const size_t end = is_long || whole ? std::min(argument.find('='), argument.size()) : 2;
    const std::string name = argument.substr(is_long ? 2 : 1, end - (is_long ? 2 : 1));
    option_ = whole ? nullptr : is_long ? find(options_, name) : with_letter(name[0]);
    if (!option_) unknown_ = name, shown_ = argument.substr(0, end);
    if (option_) open(fmt::format("--{}", option_->name));
    if (end < argument.size()) take_word(argument.substr(is_long ? end + 1 : end), true);
  }

  const Option* with_letter(char letter) const {
    for (const Option& option : options_)
      if (option.letter == letter) return &option;
    return nullptr;
  }

  // A later value replaces an earlier one.
  void open(const std::string& where) {
    Assignment& assignment = assignments_[option_->name];
    assignment.where = where;
    if (!option_->list) assignment = {.words = {}, .where = where};
    count_ = 0;
  }

  void take_word(const std::string& word, bool attached = false) {
    if (!unknown_.empty()) {
      words_.push_back(word);
    } else if (option_ && (attached || (count_ == 0 && (!option_->stands_alone() || is_value_of(*option_, word))) ||
                           (count_ > 0 && option_->list))) {
      assignments_[option_->name].words.push_back(word);
      ++count_;
    } else {
      take_loose_word(word);
    }
  }

  // Words without an option before them are positional; a list takes all remaining words.
  void take_loose_word(const std::string& word) {
    for (const Option* positional : positionals_) {
      Assignment& assignment = assignments_[positional->name];
      if (!positional->list && !assignment.words.empty()) continue;
      finish_option();
      if (assignment.where.empty()) assignment.where = positional->value;
      assignment.words.push_back(word);
      return;
    }
    take_surplus(word);
  }

  // The word was probably meant for the option before it, so the message describes the values of that option.
  void take_surplus(const std::string& word) {
    if (!option_) {
      surplus_.push_back(word);
    } else if (option_->boolean) {
      findings_.add_unread(Error(fmt::format("--{} takes no value, found '{}'", option_->name, word)));
    } else {
      assignments_[option_->name].words.push_back(word);
      ++count_;
    }
  }

  void finish_option() {
    if (!unknown_.empty()) finish_unknown();
    if (option_ && count_ == 1) {
      Strings& words = assignments_[option_->name].words;
      words = read_truth_value(*option_, words);
    }
    if (option_ && count_ == 0) {
      Assignment& assignment = assignments_[option_->name];
      if (option_->stands_alone()) {
        assignment.words.push_back(option_->boolean ? "true" : std::string(option_->implicit));
      } else {
        findings_.add_unread(Error(fmt::format("{} needs a value", assignment.where)));
        assignment.refused = true;
      }
    }
    option_ = nullptr;
  }

  void finish_unknown() {
    const std::string name = shown_, message = fmt::format("there is no option {}", name);
    for (const std::string& word : words_) shown_ += " " + word;
    const Strings typed = words_;
    if (words_.empty()) words_ = {"true"};
    if (const Foreign* row = renamed_option(unknown_, words_, about_.name))
      assignments_[row->names] = {.words = typed, .where = name};
    else
      findings_.add_option(unknown_, words_, message, shown_, did_you_mean(unknown_, all_names(options_), "--"));
    unknown_.clear();
    words_.clear();
  }

  const std::vector<Option>& options_;
  const About& about_;
  Findings& findings_;
  Assignments assignments_;
  std::vector<const Option*> positionals_;
  const Option* option_ = nullptr;  // the option to which the next words may belong, …
  int count_ = 0;                   // … and the number of its words so far; or an unknown one: …
  std::string unknown_, shown_;     // … "workspace", "--workspace"
  Strings words_;
  Strings surplus_;
};

}  // namespace

Assignments read_command_line(const Strings& arguments, const std::vector<Option>& options, const About& about,
                              Findings& findings) {
  Assignments assignments = CommandLine(options, about, findings).read(arguments);
  take_foreign_values(assignments, findings);
  return assignments;
}

}  // namespace dragoman
