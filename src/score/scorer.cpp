#include "score/scorer.h"

#include <algorithm>
#include <numeric>

#include "base/threads.h"

namespace dragoman {
namespace {

struct Side {
  std::vector<int32_t> ids, lengths;

  void append(const std::vector<int32_t>& sentence) {
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    lengths.push_back(int32_t(sentence.size()));
  }
  bool has_room(const std::vector<int32_t>& sentence, int64_t limit) const {
    return int64_t(ids.size() + sentence.size()) <= limit;
  }
  PackedIds packed() { return {std::move(ids), Spans::of_lengths(lengths)}; }
};

std::vector<size_t> order_by_length(std::span<const IdPair> pairs) {
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pairs[a].target.size(), pairs[a].source.size()) <
           std::pair(pairs[b].target.size(), pairs[b].source.size());
  });
  return order;
}

// The first pairs of `order` that fit into one batch; at least one.
Batch first_batch(std::span<const IdPair> pairs, std::span<const size_t> order, int64_t batch_words) {
  Side source, target;
  size_t count = 0;
  for (; count < order.size(); ++count) {
    const IdPair& pair = pairs[order[count]];
    if (count > 0 && !(source.has_room(pair.source, batch_words) && target.has_room(pair.target, batch_words))) break;
    source.append(pair.source);
    target.append(pair.target);
  }
  return {source.packed(), target.packed(), std::vector<int32_t>(count, 0)};
}

}  // namespace

std::vector<std::vector<float>> score_pieces(const ScoringPlace& place, Model& model, std::span<const IdPair> pairs,
                                             int64_t batch_words) {
  const std::vector<size_t> order = order_by_length(pairs);
  std::vector<std::vector<float>> scores(pairs.size());
  for (std::span<const size_t> rest = order; !rest.empty();) {
    const Batch batch = first_batch(pairs, rest, batch_words);
    Context cx{.backend = place.backend, .arena = place.arena, .packed = &place.packed};
    const LabelLoss loss = model.loss(cx, batch, 0);
    const auto* log_probs = loss.log_prob.as<float>();
    const int sentences = batch.target.spans.sentences();
    for (int s = 0; s < sentences; ++s) {
      const Range rows = batch.target.spans[s];
      scores[rest[s]].assign(log_probs + rows.begin, log_probs + rows.end);
    }
    rest = rest.subspan(sentences);
  }
  return scores;
}

double sum_of(std::span<const float> piece_scores) {
  return std::accumulate(piece_scores.begin(), piece_scores.end(), 0.0);
}

std::vector<double> score_pairs(const ScoringPlace& place, Model& model, std::span<const IdPair> pairs,
                                int64_t batch_words) {
  std::vector<double> sums;
  for (const auto& pieces : score_pieces(place, model, pairs, batch_words)) sums.push_back(sum_of(pieces));
  return sums;
}

std::vector<IdPair> encode_pairs(const Vocabulary& source, const Vocabulary& target, const LinePairs& lines,
                                 bool given_pieces) {
  const auto ids = [&](const Vocabulary& vocabulary, const std::string& line) {
    auto sentence = given_pieces ? vocabulary.encode_given_pieces(line) : vocabulary.encode(line);
    sentence.push_back(vocabulary.eos());
    return sentence;
  };
  std::vector<IdPair> pairs(lines.source.size());
  parallel_items(int64_t(pairs.size()), [&](int64_t i, int) {
    pairs[i] = {ids(source, lines.source[i]), ids(target, lines.target[i])};
  });
  return pairs;
}

}  // namespace dragoman
