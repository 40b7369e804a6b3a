#include "ops/attention.h"

#include "ops/dropout.h"

namespace dragoman {
namespace {

void check(const Var& q, const Var& k, const Var& v, const AttentionShape& a) {
  require(q.cols() == k.cols() && q.cols() % a.heads == 0 && v.cols() % a.heads == 0,
          "attention: q is {}, k {}, v {}, expected (Nq,H*K), (Nk,H*K), (Nk,H*V) with H = {}", q.shape(), k.shape(),
          v.shape(), a.heads);
  require(k.rows() == v.rows(), "attention: k is {} and v {}, expected as many rows", k.shape(), v.shape());
  require(q.rows() == a.queries.rows() && k.rows() == a.keys.rows(),
          "attention: q is {} and k {}, but the spans hold {} and {} rows", q.shape(), k.shape(), a.queries.rows(),
          a.keys.rows());
  require(a.queries.sentences() == a.keys.sentences(), "attention: {} sentences of queries, {} of keys",
          a.queries.sentences(), a.keys.sentences());
  const Tensor& bias = a.visible.bias;
  require(!bias || (bias.shape().rank() == 2 && bias.rows() == a.heads && bias.cols() % 2 == 1),
          "attention: bias is {}, expected ({},2R+1)", bias.shape(), a.heads);
  check_places("attention", a.dropout, q.rows());
}

}  // namespace

Var attention(Context& cx, const Var& q, const Var& k, const Var& v, const AttentionShape& a) {
  check(q, k, v, a);
  const int64_t key_size = q.cols() / a.heads, value_size = v.cols() / a.heads;
  Var y = cx.make({q.rows(), v.cols()}, q.dtype());
  const Tensor lse = cx.save({q.rows(), a.heads}, stat_type(q.dtype()));
  cx.backend.attention(y, lse, q, k, v, a, cx.scratch(cx.backend.attention_scratch(a, key_size, value_size)));
  cx.record("attention", y, [=](Backward& b) {
    const Tensor scratch = b.scratch(std::max<int64_t>(1, b.backend.attention_scratch(a, key_size, value_size)));
    b.backend.attention_backward(
        Backend::AttentionBackward{b.grad(q), b.grad(k), b.grad(v), b.grad_out(), q, k, v, y, lse, a, scratch});
  });
  return y;
}

Var attention_step(Context& cx, const Var& q, const Tensor& k, const Tensor& v, const StepKeys& keys, int heads,
                   int64_t longest) {
  require(q.cols() == k.cols() && q.cols() % heads == 0 && v.cols() % heads == 0,
          "attention_step: q is {}, k {}, v {}, expected (R,H*K), (C,H*K), (C,H*V) with H = {}", q.shape(), k.shape(),
          v.shape(), heads);
  require(keys.length.shape() == Shape{q.rows()}, "attention_step: length is {}, expected {}", keys.length.shape(),
          Shape{q.rows()});
  require(keys.table || keys.begin.shape() == keys.length.shape(), "attention_step: begin is {}, expected {}",
          keys.begin.shape(), keys.length.shape());
  require(!keys.table || (keys.table.shape().rank() == 2 && keys.table.rows() == q.rows()),
          "attention_step: table is {}, expected ({},T)", keys.table.shape(), q.rows());
  Var y = cx.make({q.rows(), v.cols()}, q.dtype());
  cx.backend.attention_step(y, q, k, v, keys, heads, cx.scratch(cx.backend.attention_step_scratch(longest)));
  return y;
}

}  // namespace dragoman
