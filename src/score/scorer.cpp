#include "score/scorer.h"

#include <numeric>

#include "base/threads.h"

namespace dragoman {

std::vector<std::vector<float>> score_pieces(const ScoringContext& context, Model& model, std::span<const IdPair> pairs,
                                             int64_t batch_words, std::vector<Alignment>* alignments) {
  std::vector<std::vector<float>> scores(pairs.size());
  AlignmentObserver aligner(model.config());
  if (alignments) alignments->assign(pairs.size(), {});
  for_each_batch(pairs, batch_words, [&](const Batch& batch, std::span<const size_t> numbers) {
    Context cx{
        .backend = context.backend, .arena = context.arena, .packed = &context.packed, .rounded = context.rounded};
    if (alignments) cx.observer = aligner.observer();
    const TokenLoss loss = model.loss(cx, batch, 0);
    const Tensor of_targets = loss.log_prob.on_host();
    const auto* log_probs = of_targets.as<float>();
    for (size_t s = 0; s < numbers.size(); ++s) {
      const Range rows = batch.target.spans[int(s)];
      scores[numbers[s]].assign(log_probs + rows.begin, log_probs + rows.end);
    }
    if (alignments) put(aligner.take(), numbers, *alignments);
  });
  return scores;
}

double log_prob_of(std::span<const float> piece_scores) {
  return std::accumulate(piece_scores.begin(), piece_scores.end(), 0.0);
}

std::vector<double> score_pairs(const ScoringContext& context, Model& model, std::span<const IdPair> pairs,
                                int64_t batch_words) {
  std::vector<double> sums;
  for (const auto& pieces : score_pieces(context, model, pairs, batch_words)) sums.push_back(log_prob_of(pieces));
  return sums;
}

std::vector<IdPair> encode_pairs(const Vocabulary& source, const Vocabulary& target, const SentenceFrames& frames,
                                 const LinePairs& lines, bool given_pieces) {
  const auto ids = [&](const Vocabulary& vocabulary, const SentenceFrame& frame, const std::string& line) {
    return frame.around(given_pieces ? vocabulary.encode_given_pieces(line) : vocabulary.encode(line));
  };
  std::vector<IdPair> pairs(lines.source.size());
  parallel_items(int64_t(pairs.size()), [&](int64_t i, int) {
    pairs[i] = {ids(source, frames.source, lines.source[i]), ids(target, frames.target, lines.target[i])};
  });
  return pairs;
}

}  // namespace dragoman
