#include "interop/alibi_table.h"

#include <cmath>

namespace dragoman {

std::vector<float> alibi_table(const BucketDesign& d, int heads) {
  const int count = d.per_direction(), single = count / 2;
  const double growth = std::log(double(d.longest) / single) / (count - single);
  std::vector<float> table;
  for (int bucket = 0; bucket < d.buckets; ++bucket) {
    const int range = bucket % count;
    const double distance = range < single ? range : single * std::exp((range - single + 0.5) * growth);
    for (int h = 1; h <= heads; ++h) table.push_back(float(-std::pow(2.0, -8.0 * h / heads) * distance));
  }
  return table;
}

}  // namespace dragoman
