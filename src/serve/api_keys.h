#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The keys that allow translating. Without a file, everybody may translate.
class ApiKeys {
 public:
  /// Reads one key per line; empty lines and those that begin with # are ignored. Empty `path`: no key is needed. Error
  /// for a file without keys.
  explicit ApiKeys(const std::string& path);

  bool needed() const { return needed_; }
  /// Whether the key is one of them. The time it takes does not depend on how much of the key is right.
  bool contain(std::string_view key) const;

 private:
  bool needed_;
  std::vector<std::string> keys_;
};

}  // namespace dragoman
