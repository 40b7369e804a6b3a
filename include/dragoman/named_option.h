#pragma once
#include <string>
#include <vector>

namespace dragoman {

/// An option by its long name, and its values as on the command line: {"dim-emb", {"256"}}, {"train-sets", {"train.de",
/// "train.en"}}. No value stands for "true", or for what the option means there without one.
struct NamedOption {
  std::string name;
  std::vector<std::string> values;
};
using NamedOptions = std::vector<NamedOption>;

}  // namespace dragoman
