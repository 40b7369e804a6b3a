#include "nn/pooling.h"

#include <cmath>

#include "ops/attention.h"
#include "ops/embedding.h"

namespace dragoman {

Var pool_by_query(Context& cx, const Var& query, const Var& k, const Var& v, const Spans& spans) {
  const auto B = size_t(spans.sentences());
  const Tensor first = int_tensor(std::vector<int32_t>(B, 0), {int64_t(B)});
  const Tensor positions = int_tensor(std::vector<int32_t>(2 * B, 0), {int64_t(B), 2});
  const Var one_each = embedding(cx, {first, positions, query, Var(), std::sqrt(double(query.cols()))}, {});
  const Spans queries = Spans::of_lengths(std::vector<int32_t>(B, 1));
  return attention(cx, one_each, k, v, {queries, spans, 1, {}, Score::scaled_dot, {}});
}

AttentionPooling AttentionPooling::make(Parameters& p, const std::string& name, int64_t dim) {
  return {Linear::make(p, {name + ".projection"}, {dim}, dim),
          p.matrix({{name + ".query.weight", 1, {Init::normal, 1 / std::sqrt(double(dim))}}}, dim,
                   Parameters::Use::lookup)};
}

Var AttentionPooling::operator()(Context& cx, const Var& x, const Spans& spans) const {
  return pool_by_query(cx, query, projection(cx, x, Activation::tanh), x, spans);
}

}  // namespace dragoman
