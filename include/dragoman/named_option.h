#pragma once
#include <string>
#include <vector>

namespace dragoman {

/// An option by its long name, with its values as on the command line: {"dim-emb", {"256"}}, {"train-sets",
/// {"train.de", "train.en"}}. Without values, it means the same as on the command line without a value, such as "true";
/// one that takes several values then counts as not given.
struct NamedOption {
  std::string name = {};
  std::vector<std::string> values = {};
};
using NamedOptions = std::vector<NamedOption>;

}  // namespace dragoman
