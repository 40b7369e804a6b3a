#include "interop/rotary_rows.h"

namespace dragoman {

void separate_rotated_pairs(WeightMapping& weights, const std::string& theirs, const ModelConfig& side) {
  const int64_t K = side.head_keys();
  std::vector<int64_t> order;
  for (int64_t head = 0; head < side.heads; ++head)
    for (const int64_t second : {0, 1})
      for (int64_t pair = 0; pair < K / 2; ++pair) order.push_back(head * K + 2 * pair + second);
  weights.reorder_rows(theirs, order);
}

}  // namespace dragoman
