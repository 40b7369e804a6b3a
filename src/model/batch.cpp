#include "model/batch.h"

#include <algorithm>
#include <set>

#include "autodiff/context.h"

namespace dragoman {

double Batch::target_weight() const {
  if (weights.empty()) return double(target.ids.size());
  double sum = 0;
  for (size_t s = 0; s < weights.size(); ++s) {
    const Range rows = target.spans[int(s)];
    sum += double(weights[s]) * double(rows.end - rows.begin);
  }
  return sum;
}

double Batch::linked_weight() const {
  double sum = 0;
  for (size_t s = 0; s < links.size(); ++s) {
    std::set<int64_t> linked;
    for (const TokenLink& link : links[s]) linked.insert(link.target);
    sum += double(linked.size()) * (weights.empty() ? 1 : double(weights[s])) * links_weight;
  }
  return sum;
}

void Batch::multiply_weights(float factor) {
  weights.resize(sentences.size(), 1);
  for (float& weight : weights) weight *= factor;
}

Tensor Batch::row_weights(const Spans& spans) const {
  if (weights.empty()) return {};
  std::vector<float> rows;
  rows.reserve(size_t(spans.rows()));
  for (size_t s = 0; s < weights.size(); ++s) {
    const Range own = spans[int(s)];
    rows.insert(rows.end(), size_t(own.end - own.begin), weights[s]);
  }
  return float_tensor(std::move(rows), {spans.rows()});
}

PackedIds shifted(const PackedIds& target, int32_t first_token) {
  PackedIds read = target;
  for (int s = 0; s < read.spans.sentences(); ++s) {
    const auto first = read.ids.begin() + read.spans[s].begin, last = read.ids.begin() + read.spans[s].end;
    if (first == last) continue;
    std::move_backward(first, last - 1, last);
    *first = first_token;
  }
  return read;
}

Tensor positions_of(const Spans& spans, std::span<const int32_t> sentences, int64_t last) {
  std::vector<int32_t> positions;
  positions.reserve(2 * size_t(spans.rows()));
  for (int s = 0; s < spans.sentences(); ++s)
    for (int64_t t = 0; t < spans[s].end - spans[s].begin; ++t)
      positions.insert(positions.end(), {sentences.empty() ? 0 : sentences[s], int32_t(std::min(t, last))});
  return int_tensor(std::move(positions), {spans.rows(), 2});
}

namespace {

PackedIds sentences_of(const PackedIds& all, Range sentences) {
  std::vector<int32_t> offsets = {0};
  const int64_t first = all.spans[int(sentences.begin)].begin, last = all.spans[int(sentences.end - 1)].end;
  for (int64_t s = sentences.begin; s < sentences.end; ++s) offsets.push_back(int32_t(all.spans[int(s)].end - first));
  return {{all.ids.begin() + first, all.ids.begin() + last}, Spans(std::move(offsets))};
}

}  // namespace

Batch sentences_of(const Batch& batch, Range s) {
  Batch p{sentences_of(batch.source, s),
          sentences_of(batch.target, s),
          {batch.sentences.begin() + s.begin, batch.sentences.begin() + s.end}};
  if (!batch.weights.empty()) p.weights = {batch.weights.begin() + s.begin, batch.weights.begin() + s.end};
  if (!batch.links.empty()) p.links = {batch.links.begin() + s.begin, batch.links.begin() + s.end};
  p.links_weight = batch.links_weight;
  return p;
}

std::vector<Batch> micro_batches_of(const Batch& batch, int64_t rows) {
  const Spans &source = batch.source.spans, &target = batch.target.spans;
  std::vector<Batch> parts;
  Range now{0, 0};  // sentences of the current micro-batch
  int64_t first_source = 0, first_target = 0;
  for (int s = 0; s < target.sentences(); ++s) {
    const int64_t with = std::max(source[s].end - first_source, target[s].end - first_target);
    if (now.end > now.begin && with > rows) {
      parts.push_back(sentences_of(batch, now));
      now.begin = now.end;
      first_source = source[s].begin, first_target = target[s].begin;
    }
    ++now.end;
  }
  if (now.end > now.begin) parts.push_back(sentences_of(batch, now));
  return parts;
}

// A micro-batch ends with the sentence that completes its share, or `rows` tokens on a side.
std::vector<Batch> even_micro_batches_of(const Batch& batch, int64_t rows) {
  const Spans &source = batch.source.spans, &target = batch.target.spans;
  const int64_t all = source.rows() + target.rows(), count = 1 + (std::max(source.rows(), target.rows()) - 1) / rows;
  std::vector<Batch> parts;
  int64_t begin = 0, first_source = 0, first_target = 0;
  for (int64_t s = 0; s < target.sentences(); ++s) {
    const int64_t sources = source[int(s)].end, targets = target[int(s)].end;
    const bool last = s + 1 == target.sentences(),
               has_share = (sources + targets) * count >= all * int64_t(parts.size() + 1);
    if (!last && !has_share && std::max(sources - first_source, targets - first_target) < rows) continue;
    parts.push_back(sentences_of(batch, {begin, s + 1}));
    begin = s + 1, first_source = sources, first_target = targets;
  }
  return parts;
}

}  // namespace dragoman
