#include <algorithm>

#include "nn/memories/memory.h"

namespace dragoman {
namespace {

// Local attention (Liu et al. 2018, section 4.2.4): a text is cut into blocks, and a query sees the keys of its own.
class BlockMemory : public KeyMemory {
 public:
  explicit BlockMemory(int block) : block_(block) {}

  Seen see(Context&, const Var& k, const Var& v, const SelfRows& rows) const override {
    std::vector<int32_t> offsets = {0};
    for (int s = 0; s < rows.spans.sentences(); ++s)
      for (int64_t begin = rows.spans[s].begin; begin < rows.spans[s].end; begin += block_)
        offsets.push_back(int32_t(std::min(rows.spans[s].end, begin + block_)));
    const Spans blocks(std::move(offsets));
    return {blocks, blocks, k, v};
  }
  Past see_step(Context&, const Tensor&, const Past& past) const override {
    return part_of(past, 1, [&](int64_t length) { return (length - 1) / block_ * block_; });
  }

 private:
  const int block_;
};

}  // namespace

std::shared_ptr<const KeyMemory> make_block_memory(const AttentionDesign& d) {
  return std::make_shared<BlockMemory>(d.memory.block);
}

}  // namespace dragoman
