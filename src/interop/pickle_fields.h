#pragma once
#include <optional>
#include <string>

#include "interop/pickle.h"

namespace dragoman {

/// Options by name in a pickle: a dict, an argparse.Namespace, or OmegaConf's DictConfig. The pickle must
/// outlive it.
class PickleFields {
 public:
  /// `where` names the file and the options in messages: "checkpoint.pt: args". Error for another kind of value.
  PickleFields(const PickleValue& value, std::string where);

  const std::string& where() const { return where_; }
  /// Null for an option that is absent or None.
  PickleRef find(const std::string& name) const;
  /// Error, naming the option, for a value of another kind.
  int number(const std::string& name, std::optional<int> otherwise = {}) const;
  double real(const std::string& name, double otherwise) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  bool flag(const std::string& name) const;
  /// Whether the option is in effect: it is not None, false, 0 or empty.
  bool is_set(const std::string& name) const;
  /// Options inside this one; nullopt if it is absent.
  std::optional<PickleFields> inside(const std::string& name) const;

 private:
  [[noreturn]] void refuse(const std::string& name, const PickleValue& value, const char* expected) const;

  const PickleDict* fields_ = nullptr;
  std::string where_;
};

}  // namespace dragoman
