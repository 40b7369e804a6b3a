#include "options/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "options/foreign.h"

namespace dragoman {

void Findings::add(const Error& problem) {
  const std::string_view what = problem.what();
  if (std::ranges::any_of(problems_, [&](const Error& known) { return known.what() == what; })) return;
  problems_.push_back(problem);
}

void Findings::add_unread(const Error& problem) {
  all_read_ = false;
  add(problem);
}

void Findings::add_option(std::string_view name, const std::vector<std::string>& words, const std::string& message,
                          const std::string& shown, const std::string& nearest) {
  const Foreign* foreign = foreign_option(name, command_);
  if (!foreign) {
    std::string hint = elsewhere_ ? elsewhere_(name) : "";
    if (hint.empty()) hint = nearest;
    if (hint.empty() && elsewhere_) hint = help();
    return add_unread(Error(message, hint));
  }
  const std::string_view why = reason_to_ignore(*foreign, command_, words);
  if (!why.empty()) return ignore(shown, why);
  const ForeignValue* value = foreign_value(name, words, command_);
  add(Error(message, std::string(value && !value->answer.empty() ? value->answer : foreign->answer)));
}

void Findings::ignore(const std::string& shown, std::string_view why) {
  auto same = std::ranges::find(ignored_, why, &Ignored::why);
  if (same == ignored_.end()) same = ignored_.insert(same, {why, {}});
  same->options.push_back(shown);
}

std::string Findings::help() const {
  return fmt::format("dragoman {} --help WORD shows the options that mention a word", command_);
}

void Findings::finish() const {
  if (problems_.size() == 1) throw problems_[0];
  if (!problems_.empty()) {
    std::string text = fmt::format("{} problems with the options of dragoman {}", problems_.size(), command_);
    for (const Error& problem : problems_) {
      text += fmt::format("\n  {}", problem.what());
      if (!problem.hint().empty() && problem.hint() != help()) text += fmt::format("\n    hint: {}", problem.hint());
    }
    throw Error(text, help());
  }
  for (const auto& [why, options] : ignored_)
    log_warning("{} {} ignored: {}", fmt::join(options, ", "), options.size() == 1 ? "is" : "are", why);
}

}  // namespace dragoman
