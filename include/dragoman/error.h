#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace dragoman {

/// An error that the user can fix: a bad option, file or shape. `what()` says what was found and what was expected,
/// lower case, no full stop; `hint()` (may be empty) says what to do. The command prints both to stderr and ends with
/// exit code 2, or 1 if memory ran out. Thread-safe as long as no thread assigns to it.
class [[gnu::visibility("default")]] Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = "")
      : std::runtime_error(message), hint_(std::move(hint)) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;  // defined in the library, so that a process has one copy of the type information

  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

}  // namespace dragoman
