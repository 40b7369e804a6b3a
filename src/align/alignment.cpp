#include "align/alignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace dragoman {
namespace {

// weights (H · Σ nq·nk): a matrix (nq,nk) for each sentence and head. Returns the mean over heads.
Alignment mean_over_heads(const AttentionShape& shape, int sentence, const float* weights) {
  const Range queries = shape.queries[sentence], keys = shape.keys[sentence];
  const int64_t pairs = (queries.end - queries.begin) * (keys.end - keys.begin);
  const float* of_sentence = weights + shape.heads * shape.pairs_before(sentence);
  Alignment alignment{keys.end - keys.begin, std::vector<float>(pairs)};
  for (int h = 0; h < shape.heads; ++h)
    for (int64_t i = 0; i < pairs; ++i) alignment.weights[i] += of_sentence[h * pairs + i] / float(shape.heads);
  return alignment;
}

struct Link {
  int64_t source, target;
  auto operator<=>(const Link&) const = default;
};

std::vector<Link> links(const Alignment& alignment, const AlignmentStyle& style) {
  std::vector<Link> found;
  for (int64_t t = 0; t < alignment.targets(); ++t) {
    const auto row = alignment.row(t);
    if (style.kind == AlignmentStyle::hard)
      found.push_back({std::ranges::max_element(row) - row.begin(), t});
    else
      for (int64_t s = 0; s < alignment.sources; ++s)
        if (row[s] > style.threshold) found.push_back({s, t});
  }
  std::ranges::sort(found);
  return found;
}

std::string soft_text(const Alignment& alignment) {
  std::string text;
  for (int64_t t = 0; t < alignment.targets(); ++t)
    text += fmt::format("{}{:.6g}", t > 0 ? " " : "", fmt::join(alignment.row(t), ","));
  return text;
}

}  // namespace

void append(Alignment& line, const Alignment& part) {
  Alignment whole{line.sources + part.sources, {}};
  for (int64_t t = 0; t < line.targets(); ++t) {
    whole.weights.insert(whole.weights.end(), line.row(t).begin(), line.row(t).end());
    whole.weights.resize(whole.weights.size() + part.sources);
  }
  for (int64_t t = 0; t < part.targets(); ++t) {
    whole.weights.resize(whole.weights.size() + line.sources);
    whole.weights.insert(whole.weights.end(), part.row(t).begin(), part.row(t).end());
  }
  line = std::move(whole);
}

void drop_targets(Alignment& alignment, int64_t tokens) {
  const int64_t numbers = std::min(tokens, alignment.targets()) * alignment.sources;
  alignment.weights.erase(alignment.weights.begin(), alignment.weights.begin() + numbers);
}

std::string to_text(const Alignment& alignment, const AlignmentStyle& style) {
  if (style.kind == AlignmentStyle::soft) return soft_text(alignment);
  std::string text;
  for (const Link& link : links(alignment, style))
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.source, link.target);
  return text;
}

AlignmentObserver::AlignmentObserver()
    : observer_([this](const ObservedAttention& a) {
        if (!a.name.ends_with("cross_attention")) return;
        last_.clear();  // later layers replace earlier ones
        const Tensor weights = a.weights.on_host();
        for (int s = 0; s < a.shape.queries.sentences(); ++s)
          last_.push_back(mean_over_heads(a.shape, s, weights.as<float>()));
      }) {}

std::vector<Alignment> AlignmentObserver::take() {
  require(!last_.empty(),
          "--alignment: the model has no cross-attention, expected one whose decoder looks at the source");
  return std::exchange(last_, {});
}

void put(std::vector<Alignment> some, std::span<const size_t> numbers, std::vector<Alignment>& all) {
  for (size_t i = 0; i < numbers.size(); ++i) all[numbers[i]] = std::move(some[i]);
}

std::vector<Alignment> align(const Context& cx, Model& model, std::span<const IdPair> pairs, int64_t batch_words) {
  std::vector<Alignment> alignments(pairs.size());
  AlignmentObserver aligner;
  for_each_batch(pairs, batch_words, [&](const Batch& batch, std::span<const size_t> numbers) {
    if (batch.target.ids.empty()) return;  // no queries
    Context observed{.backend = cx.backend, .arena = cx.arena, .packed = cx.packed, .observer = aligner.observer()};
    model.logits(observed, batch);  // not the loss, which does not support 8-bit weights
    put(aligner.take(), numbers, alignments);
  });
  return alignments;
}

}  // namespace dragoman
