#include "cli/suggest.h"

#include "base/error.h"
#include "base/nearest.h"
#include "cli/marian.h"

namespace dragoman {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view prefix) {
  const std::string name = nearest(word, names);
  return name.empty() ? "" : fmt::format("did you mean {}{}?", prefix, name);
}

std::string advice_on(std::string_view option, const std::vector<std::string>& names, std::string_view prefix) {
  if (const LeftOut* known = left_out(option)) return std::string(known->instead);
  return did_you_mean(option, names, prefix);
}

}  // namespace dragoman
