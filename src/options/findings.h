#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace dragoman {

/// Collects all problems in a command line and its configuration files, so that one message can list them all.
class Findings {
 public:
  /// The other commands that have an option, as a hint; empty if there are none. null: the options are not those of a
  /// command, so no hint tells to ask it for help.
  using Elsewhere = std::string (*)(std::string_view option);

  explicit Findings(std::string_view command, Elsewhere elsewhere = nullptr)
      : command_(command), elsewhere_(elsewhere) {}

  std::string_view command() const { return command_; }
  /// Adds a problem once, however often it is found.
  void add(const Error& problem);

  /// Adds a problem unless the condition holds.
  template <class... A>
  void expect(bool condition, fmt::format_string<A...> format, A&&... args) {
    if (!condition) add(Error(fmt::format(format, std::forward<A>(args)...)));
  }

  /// Adds a problem with an unreadable value, so that checks that combine options must be skipped.
  void add_unread(const Error& problem);

  /// Calls f. If it throws an Error, adds that and returns false.
  template <class F>
  bool attempt(const F& f) {
    try {
      f();
      return true;
    } catch (const Error& e) {
      add_unread(e);
      return false;
    }
  }

  /// Adds an option that the command does not have. `message` is the error; `shown` is its name in a warning if it is
  /// ignored instead.
  void add_option(std::string_view name, const std::vector<std::string>& words, const std::string& message,
                  const std::string& shown, const std::string& nearest);

  /// Notes that an option has no effect; `why` outlives the findings.
  void ignore(const std::string& shown, std::string_view why);

  bool all_read() const { return all_read_; }
  bool empty() const { return problems_.empty(); }

  /// Throws Error if there are problems: a single one unchanged, several as a list. Otherwise warns of ignored options.
  void finish() const;

 private:
  std::string help() const;

  struct Ignored {
    std::string_view why;
    std::vector<std::string> options;
  };

  std::string_view command_;
  Elsewhere elsewhere_;
  std::vector<Error> problems_;
  std::vector<Ignored> ignored_;
  bool all_read_ = true;
};

}  // namespace dragoman
