#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace dragoman {

/// What a command cannot take of its command line and configuration files, gathered so that one answer names all.
class Findings {
 public:
  explicit Findings(std::string_view command) : command_(command) {}

  std::string_view command() const { return command_; }
  /// Once, however often it is found.
  void add(const Error& problem);

  /// Adds a problem unless the condition holds.
  template <class... A>
  void expect(bool condition, fmt::format_string<A...> format, A&&... args) {
    if (!condition) add(Error(fmt::format(format, std::forward<A>(args)...)));
  }

  /// A value that could not be read, so that checks of several options must be skipped.
  void add_unread(const Error& problem);

  /// Whether f throws no Error; adds the one that it throws.
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

  /// An option that the command lacks. `message` says so, `shown` is what a warning calls it where it is ignored.
  void add_option(std::string_view name, const std::vector<std::string>& words, const std::string& message,
                  const std::string& shown, const std::string& nearest);

  bool all_read() const { return all_read_; }
  bool empty() const { return problems_.empty(); }

  /// Throws Error if there are problems: the only one as it is, several as a list. Else warns of what is ignored.
  void finish() const;

 private:
  struct Ignored {
    std::string_view why;
    std::vector<std::string> options;
  };

  std::string_view command_;
  std::vector<Error> problems_;
  std::vector<Ignored> ignored_;
  bool all_read_ = true;
};

}  // namespace dragoman
