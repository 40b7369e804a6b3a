#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace dragoman {

/// Which of --valid-metrics must improve, lest the run stops early or its learning rate decays: the first, each, or at
/// least one.
enum class StoppingOn { first, any, all };

inline std::span<const EnumName<StoppingOn>> enum_names(StoppingOn) {
  static constexpr EnumName<StoppingOn> names[] = {
      {StoppingOn::first, "first"}, {StoppingOn::any, "any"}, {StoppingOn::all, "all"}};
  return names;
}

/// Validations in a row without improvement of what must improve.
struct Stalled {
  int64_t validations = 0;
  std::string metric;  // for messages: "bleu", or "any metric"
};

/// `metrics` are the names of --valid-metrics, at least one. `stalled` has the validations in a row without improvement
/// of each; none is 0.
Stalled stalled_on(StoppingOn on, const std::vector<std::string>& metrics,
                   const std::map<std::string, int64_t>& stalled);

}  // namespace dragoman
