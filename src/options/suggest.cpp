#include "options/suggest.h"

#include "base/error.h"
#include "base/nearest.h"

namespace dragoman {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view prefix) {
  const std::string name = nearest(word, names);
  return name.empty() ? "" : fmt::format("did you mean {}{}?", prefix, name);
}

}  // namespace dragoman
