#include "nn/poolings/pooling.h"

#include <cmath>

#include "ops/attention.h"
#include "ops/embedding.h"

namespace dragoman {

// The embedding multiplies the query by √D, which the score divides by.
Var pool_by_query(Context& cx, const Var& query, const Var& k, const Var& v, const Spans& spans) {
  const auto B = size_t(spans.sentences());
  const Tensor first = int_tensor(std::vector<int32_t>(B, 0), {int64_t(B)});
  const Tensor positions = int_tensor(std::vector<int32_t>(2 * B, 0), {int64_t(B), 2});
  const Var one_each = embedding(cx, {first, positions, query, Var(), std::sqrt(double(query.cols()))}, {});
  const Spans queries = Spans::of_lengths(std::vector<int32_t>(B, 1));
  return attention(cx, one_each, k, v, {queries, spans, 1, {}, Score::scaled_dot, {}});
}

}  // namespace dragoman
