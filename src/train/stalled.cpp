#include "train/stalled.h"

#include <algorithm>

namespace dragoman {

Stalled stalled_on(StoppingOn on, const std::vector<std::string>& metrics,
                   const std::map<std::string, int64_t>& stalled) {
  std::vector<Stalled> all;
  for (const std::string& metric : metrics) {
    const auto found = stalled.find(metric);
    all.push_back({found == stalled.end() ? 0 : found->second, metric});
  }
  if (on == StoppingOn::first || all.size() == 1) return all.front();
  if (on == StoppingOn::any) return *std::ranges::max_element(all, {}, &Stalled::validations);
  return {std::ranges::min_element(all, {}, &Stalled::validations)->validations, "any metric"};
}

}  // namespace dragoman
