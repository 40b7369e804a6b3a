#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Who may translate. Without a file everybody may.
class ApiKeys {
 public:
  /// A key a line; empty lines and those that begin with # are left out. `path` empty: none is needed. Error for a file
  /// without keys.
  explicit ApiKeys(const std::string& path);

  bool needed() const { return needed_; }
  /// Whether the key is one of them, in a time that does not depend on how much of it is right.
  bool contain(std::string_view key) const;

 private:
  bool needed_;
  std::vector<std::string> keys_;
};

}  // namespace dragoman
