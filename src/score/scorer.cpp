#include "score/scorer.h"

#include <algorithm>
#include <numeric>

namespace dragoman {
namespace {

struct Side {
  std::vector<int32_t> ids, lengths;
  void append(const std::vector<int32_t>& sentence) {
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    lengths.push_back(int32_t(sentence.size()));
  }
  PackedIds packed() { return {std::move(ids), Spans::of_lengths(lengths)}; }
};

}  // namespace

std::vector<double> score_pairs(const ScoringPlace& place, Model& model, std::span<const IdPair> pairs,
                                int64_t batch_words) {
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pairs[a].target.size(), pairs[a].source.size()) <
           std::pair(pairs[b].target.size(), pairs[b].source.size());
  });
  std::vector<double> scores(pairs.size());
  for (size_t from = 0; from < order.size();) {
    Side source, target;
    size_t to = from;
    const auto fits = [&](const Side& side, size_t more) { return int64_t(side.ids.size() + more) <= batch_words; };
    while (to < order.size()) {
      const IdPair& pair = pairs[order[to]];
      if (to > from && !(fits(source, pair.source.size()) && fits(target, pair.target.size()))) break;
      source.append(pair.source);
      target.append(pair.target);
      ++to;
    }
    const Batch batch{source.packed(), target.packed(), std::vector<int32_t>(to - from, 0)};
    Context cx{.backend = place.backend, .arena = place.arena, .packed = &place.packed};
    const LabelLoss loss = model.loss(cx, batch, 0);
    for (size_t i = from; i < to; ++i) {
      const Range rows = batch.target.spans[int(i - from)];
      for (int64_t n = rows.begin; n < rows.end; ++n) scores[order[i]] += loss.log_prob.as<float>()[n];
    }
    from = to;
  }
  return scores;
}

}  // namespace dragoman
