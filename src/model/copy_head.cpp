#include "model/copy_head.h"

#include <algorithm>
#include <utility>

#include "backend/backend.h"
#include "ops/attention.h"
#include "ops/copying.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// Attention that computes the probability of copying each target token of a batch. Within a sentence, the pieces common
// to source and target are numbered from 1. The value of a key is one-hot: 1 in the column of its piece. So
// each column of a query's result is the probability of one piece. Column 0 stands for target tokens that cannot be
// copied.
struct Matches {
  int64_t columns = 1;
  std::vector<int32_t> of_sources, of_targets;  // (Ns) (Nt): columns
};

Matches match(const Batch& batch) {
  Matches m{1, std::vector<int32_t>(batch.source.ids.size()), std::vector<int32_t>(batch.target.ids.size())};
  for (int s = 0; s < batch.target.spans.sentences(); ++s) {
    const Range source = batch.source.spans[s], target = batch.target.spans[s];
    std::map<int32_t, int32_t> column;  // of the source's pieces; 0: absent from the target
    for (int64_t i = source.begin; i < source.end; ++i) column[batch.source.ids[i]] = 0;
    int32_t count = 0;
    for (int64_t t = target.begin; t < target.end; ++t) {
      const auto found = column.find(batch.target.ids[t]);
      if (found == column.end()) continue;
      if (found->second == 0) found->second = ++count;
      m.of_targets[t] = found->second;
    }
    for (int64_t i = source.begin; i < source.end; ++i) m.of_sources[i] = column[batch.source.ids[i]];
    m.columns = std::max<int64_t>(m.columns, count + 1);
  }
  return m;
}

// (Ns,U): the values of keys.
Tensor ones_at(Context& cx, const Matches& m, DType dtype) {
  const auto N = int64_t(m.of_sources.size());
  std::vector<float> ones(N * m.columns);
  for (int64_t i = 0; i < N; ++i)
    if (m.of_sources[i] > 0) ones[i * m.columns + m.of_sources[i]] = 1;
  const Tensor values = cx.save({N, m.columns}, dtype);
  cx.backend.copy(values, float_tensor(std::move(ones), values.shape()));
  return values;
}

// Computes in float32 while it lives.
struct InFloat32 {
  explicit InFloat32(Context& cx) : cx(cx), rounded(std::exchange(cx.rounded, nullptr)) {}
  ~InFloat32() { cx.rounded = rounded; }
  InFloat32(const InFloat32&) = delete;

  Context& cx;
  const RoundedWeights* rounded;
};

// (Nt,U). The gradient of a tiny probability exceeds what float16 holds.
Var probabilities(Context& cx, const Var& query, const Var& key, const Matches& matches, const AttentionShape& shape) {
  const auto attend = [&](const Var& q, const Var& k) {
    return attention(cx, q, k, Var(ones_at(cx, matches, q.dtype())), shape);
  };
  if (!cx.rounded || cx.rounded->type != DType::f16) return attend(query, key);
  const InFloat32 wide(cx);
  return attend(widened(cx, query), widened(cx, key));
}

}  // namespace

CopyHead CopyHead::make(Parameters& p, int64_t dim, int64_t encoded_dim) {
  return {Linear::make(p, {"copy.query", "copy.gate"}, {dim, 1}, dim),
          Linear::make(p, {"copy.key"}, {dim}, encoded_dim)};
}

CopyHead make_copy_head(Parameters& p, const ModelConfig& config, int64_t encoded_dim) {
  require(config.source_vocabulary == config.target_vocabulary,
          "a model copies pieces of one vocabulary, but its vocabularies have {} and {} pieces",
          config.source_vocabulary, config.target_vocabulary);
  return CopyHead::make(p, config.dim, encoded_dim);
}

CopyHead::Query CopyHead::query_of(Context& cx, const Var& x) const {
  const Var both = query_and_gate(cx, x);
  const int64_t K = both.cols() - 1;
  return {columns(both, 0, K), columns(both, K, 1)};
}

Copying CopyHead::operator()(Context& cx, const Var& x, const Var& encoded, const Batch& batch) const {
  const auto [query, gate] = query_of(cx, x);
  const Matches matches = match(batch);
  const AttentionShape shape{batch.target.spans, batch.source.spans, 1, {}, Score::scaled_dot, {}};
  const Var copied = probabilities(cx, query, key(cx, encoded), matches, shape);
  return {widened(cx, gate), pick_columns(cx, copied, int_tensor(matches.of_targets, {x.rows()}))};
}

void CopySources::add(int first, const PackedIds& source, const Var& encoded) {
  for (int s = 0; s < source.spans.sentences(); ++s) {
    const Range span = source.spans[s];
    pieces_.emplace(first + s, std::vector(source.ids.begin() + span.begin, source.ids.begin() + span.end));
  }
  const Tensor rows = held_.add(first, source.spans);
  cx_.backend.scatter_rows(keys_.layer(0), head_.key(cx_, encoded), rows);
}

void CopySources::remove(int sentence) {
  held_.remove(sentence);
  pieces_.erase(sentence);
}

Tensor CopySources::mix(std::span<const StepRow> rows, const Var& x, const Tensor& logits) const {
  const auto R = int64_t(rows.size());
  const auto [keys, longest] = held_.step(rows);
  std::vector<int32_t> pieces(size_t(R * longest));
  for (int64_t r = 0; r < R; ++r) std::ranges::copy(pieces_.at(rows[r].sentence), pieces.begin() + r * longest);
  const auto [query, gate] = head_.query_of(cx_, x);
  dragoman::mix_copies(cx_, logits, widened(cx_, query), widened(cx_, gate),
                       {keys_.layer(0), keys, int_tensor(std::move(pieces), {R, longest})});
  return logits;
}

Tensor mix_copies(Context& cx, const CopyHead& head, const Batch& batch, const Var& x, const Var& encoded,
                  const Tensor& logits) {
  CopySources sources(cx, head, logits.dtype());
  sources.add(0, batch.source, encoded);
  std::vector<StepRow> rows;
  for (int s = 0; s < batch.target.spans.sentences(); ++s)
    for (int64_t t = batch.target.spans[s].begin; t < batch.target.spans[s].end; ++t) rows.push_back({s, -1, 0});
  return sources.mix(rows, x, logits);
}

}  // namespace dragoman
