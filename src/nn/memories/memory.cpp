#include "nn/memories/memory.h"

#include <algorithm>

namespace dragoman {

std::shared_ptr<const KeyMemory> make_memory(Parameters& p, const std::string& name, const AttentionDesign& d) {
  if (d.memory.block > 0) return make_block_memory(d);
  if (d.memory.stride > 1) return make_compressed_memory(p, name, d);
  return nullptr;
}

Past part_of(const Past& past, int stride, const std::function<int64_t(int64_t length)>& first) {
  const int64_t R = past.keys.length.elements();
  const int32_t* length = past.keys.length.as<int32_t>();
  const auto all = past.keys.table.view<int32_t>();
  Past part;
  std::vector<int32_t> lengths;
  for (int64_t r = 0; r < R; ++r) {
    lengths.push_back(int32_t((length[r] - first(length[r]) + stride - 1) / stride));
    part.longest = std::max<int64_t>(part.longest, lengths.back());
  }
  std::vector<int32_t> table(size_t(R * part.longest));
  for (int64_t r = 0; r < R; ++r)
    for (int64_t t = 0; t < lengths[size_t(r)]; ++t)
      table[size_t(r * part.longest + t)] = all(r, first(length[r]) + t * stride);
  part.keys = {.length = int_tensor(std::move(lengths), {R}), .table = int_tensor(std::move(table), {R, part.longest})};
  return part;
}

}  // namespace dragoman
