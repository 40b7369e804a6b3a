#include "ops/guided_alignment.h"

#include <algorithm>
#include <limits>

#include "backend/backend.h"
#include "ops/attention.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

constexpr double least_weight = 1e-6;  // as in Marian: keeps the loss of a weight of 0 finite

int64_t longest(const Spans& spans) {
  int64_t most = 1;
  for (int s = 0; s < spans.sentences(); ++s) most = std::max(most, spans[s].end - spans[s].begin);
  return most;
}

int32_t element(int64_t row, int64_t column, int64_t columns) {
  const int64_t index = row * columns + column;
  require(index <= std::numeric_limits<int32_t>::max(),
          "guided_alignment_loss: attention weights of {} rows and {} positions are too many for one batch", row + 1,
          columns);
  return int32_t(index);
}

// (Nk,S): the value of a key is one-hot, 1 in the column of its position, so that an attention returns its weights.
Tensor one_hot_positions(Context& cx, const Spans& keys, int64_t S, DType dtype) {
  const int64_t N = keys.rows();
  std::vector<int32_t> ones;
  for (int s = 0; s < keys.sentences(); ++s)
    for (int64_t n = keys[s].begin; n < keys[s].end; ++n) ones.push_back(element(n, n - keys[s].begin, S));
  const Tensor values = cx.save({N, S}, dtype), one = cx.save({N, 1}, dtype);
  cx.backend.fill(values, 0);
  cx.backend.fill(one, 1);
  cx.backend.scatter_rows(values.reshaped({N * S, 1}), one, int_tensor(std::move(ones), {N}));
  return values;
}

void check(const Var& q, const AttentionShape& shape, const AttentionLinks& links) {
  const int64_t M = links.queries.elements();
  const Shape expected{M};
  require(links.queries.shape() == expected && links.keys.shape() == expected && links.weights.shape() == expected,
          "guided_alignment_loss: queries is {}, keys {} and weights {}, expected (M) each", links.queries.shape(),
          links.keys.shape(), links.weights.shape());
  require(shape.heads == 1 && shape.score != Score::additive,
          "guided_alignment_loss: expected one head with a dot product as its score, found {} heads", shape.heads);
  for (int64_t i = 0; i < M; ++i)
    require(links.queries.as<int32_t>()[i] < q.rows(), "guided_alignment_loss: query {} of {} rows",
            links.queries.as<int32_t>()[i], q.rows());
}

}  // namespace

Tensor guided_alignment_loss(Context& cx, const Var& stored_q, const Var& stored_k, const AttentionShape& shape,
                             const AttentionLinks& links) {
  const Var q = widened(cx, stored_q), k = widened(cx, stored_k);
  check(q, shape, links);
  const int64_t M = links.queries.elements(), S = longest(shape.keys);
  const Var weights = attention(cx, q, k, Var(one_hot_positions(cx, shape.keys, S, q.dtype())), shape);  // (Nq,S)
  std::vector<int32_t> linked(static_cast<size_t>(M));
  for (int64_t i = 0; i < M; ++i)
    linked[size_t(i)] = element(links.queries.as<int32_t>()[i], links.keys.as<int32_t>()[i], S);
  const Var p = pick_elements(cx, weights, int_tensor(std::move(linked), {M}));  // (M,1)
  const Tensor loss = cx.save({M}, stat_type(p.dtype()));
  Tensor dp;
  if (cx.tape) dp = Backward(cx.backend, cx.arena, p).grad(p).tensor;
  cx.backend.log_loss(loss, dp, p, links.weights, least_weight);
  return loss;
}

}  // namespace dragoman
