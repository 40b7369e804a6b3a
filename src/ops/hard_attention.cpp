#include "ops/hard_attention.h"

#include "backend/backend.h"
#include "ops/dropout.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

void check(const Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& a, const HardChoice& c) {
  require(q.cols() == k.cols() && k.rows() == v.rows(),
          "hard_attention: q is {}, k {}, v {}, expected (B,K), (N,K), (N,V)", q.shape(), k.shape(), v.shape());
  require(a.heads == 1, "hard_attention: {} heads, expected 1", a.heads);
  require(q.rows() == a.queries.sentences() && a.queries.longest() <= 1 && a.keys.sentences() == q.rows() &&
              k.rows() == a.keys.rows(),
          "hard_attention: q is {} and k {}, but the spans hold {} queries and {} keys of {} sentences, expected one "
          "query per sentence",
          q.shape(), k.shape(), a.queries.rows(), a.keys.rows(), a.keys.sentences());
  for (int s = 0; s < a.keys.sentences(); ++s)
    require(a.keys[s].begin < a.keys[s].end, "hard_attention: sentence {} has no keys", s);
  check_positions("hard_attention", c.random, q.rows());
  require(!cx.tape || c.signal.shape() == Shape({q.rows(), 2}), "hard_attention: signal is {}, expected {}",
          c.signal.shape(), Shape({q.rows(), 2}));
}

}  // namespace

Var hard_attention(Context& cx, const Var& stored_q, const Var& stored_k, const Var& stored_v,
                   const AttentionShape& shape, const ScoreInputs& score, const HardChoice& choice) {
  const Var q = widened(cx, stored_q), k = widened(cx, stored_k), v = widened(cx, stored_v);
  check(cx, q, k, v, shape, choice);
  const int64_t B = q.rows(), N = k.rows(), K = q.cols();
  Var y = cx.make({B, v.cols()}, q.dtype(), {q, k, v, score.vector});
  Backend::Choice c{cx.arena.allocate({B}, DType::i32),
                    cx.save({N, 2}, q.dtype()),
                    cx.save({B, 2}, q.dtype()),
                    cx.save({N}, q.dtype()),
                    shape.keys,
                    choice.random};
  Backend::Attention a{.y = cx.save({B, 1}, q.dtype()),  // the values are not used, only the weights
                       .lse = cx.save({B, 1}, stat_type(q.dtype())),
                       .q = q,
                       .k = k,
                       .v = k.value().columns(0, 1),
                       .bias = score.bias,
                       .score_vector = score.vector,
                       .shape = shape,
                       .scratch = cx.scratch(cx.backend.attention_scratch(shape, K, 1)),
                       .weights = c.weights};
  cx.backend.attention(a);
  cx.backend.choose(c);
  cx.backend.gather_rows(y, v, c.rows);
  a.y = c.means, a.v = c.slopes;
  a.scratch = a.weights = c.weights = {};
  cx.record("hard_attention", y, [=, signal = choice.signal](Backward& b) {
    b.overwrite(v, [&](const Tensor& dv) {  // dy in the chosen rows
      b.backend.fill(dv, 0);
      b.backend.scatter_rows(dv, b.grad_out(), c.rows);
    });
    Backend::Attention forward = a;
    forward.scratch = b.scratch(b.backend.attention_scratch(shape, K, 2));
    b.backend.attention_backward(
        Backend::AttentionBackward{b.grad(q), b.grad(k), Grad{}, Grad{}, b.grad(score.vector), signal, forward});
  });
  return y;
}

}  // namespace dragoman
