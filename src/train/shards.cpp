#include "train/shards.h"

namespace dragoman {

// Shards are equal ranges of all tokens; a sentence belongs to the shard that contains its first token.
std::vector<std::vector<BatchPart>> shards_of(std::span<const Batch> batches, int count) {
  int64_t all = 0, before = 0;
  for (const Batch& batch : batches) all += batch.source.spans.rows() + batch.target.spans.rows();
  std::vector<std::vector<BatchPart>> shards(static_cast<size_t>(count));
  for (size_t b = 0; b < batches.size(); ++b) {
    const Spans &source = batches[b].source.spans, &target = batches[b].target.spans;
    for (int s = 0; s < target.sentences(); ++s) {
      auto& shard = shards[size_t(before * count / std::max<int64_t>(1, all))];
      if (shard.empty() || shard.back().batch != b) shard.push_back({b, {s, s}});
      ++shard.back().sentences.end;
      before += (target[s].end - target[s].begin) + (source.sentences() > 0 ? source[s].end - source[s].begin : 0);
    }
  }
  return shards;
}

}  // namespace dragoman
