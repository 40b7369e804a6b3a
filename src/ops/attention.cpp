#include "ops/attention.h"

#include <functional>

#include "backend/backend.h"
#include "ops/dropout.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

void check(const Var& q, const Var& k, const Var& v, const AttentionShape& a) {
  require(q.cols() == k.cols() && q.cols() % a.heads == 0 && v.cols() % a.heads == 0,
          "attention: q is {}, k {}, v {}, expected (Nq,H*K), (Nk,H*K), (Nk,H*V) with H = {}", q.shape(), k.shape(),
          v.shape(), a.heads);
  require(k.rows() == v.rows(), "attention: k is {} and v {}, expected equal row counts", k.shape(), v.shape());
  require(q.rows() == a.queries.rows() && k.rows() == a.keys.rows(),
          "attention: q is {} and k {}, but the spans hold {} and {} rows", q.shape(), k.shape(), a.queries.rows(),
          a.keys.rows());
  require(a.queries.sentences() == a.keys.sentences(), "attention: {} sentences of queries, {} of keys",
          a.queries.sentences(), a.keys.sentences());
  const Visibility& visible = a.visible;
  require(visible.stride == 1 || (visible.stride > 1 && visible.causal && visible.window < 0 && visible.first == 0),
          "attention: keys are {} positions apart, which requires plain causal visibility", visible.stride);
  check_positions("attention", a.dropout, q.rows());
}

void check_score(const char* op, const ScoreInputs& s, Score score, int heads, const Var& q) {
  require(!s.bias || (s.bias.shape().rank() == 2 && (s.bias.rows() == q.rows() || s.bias.rows() == 1) &&
                      s.bias.cols() % (2 * heads) == heads % (2 * heads)),
          "{}: bias is {}, expected ({} or 1,H*(2R+1)) with H = {}", op, s.bias.shape(), q.rows(), heads);
  if (score == Score::additive) {
    require(s.vector.shape() == Shape{q.cols()}, "{}: the vector of an additive score is {}, expected {}", op,
            s.vector.shape(), Shape{q.cols()});
  } else {
    require(!s.vector, "{}: there is a score vector, but the score is not additive", op);
  }
}

void check_distance_values(const char* op, const ScoreInputs& s, int heads, const Tensor& v) {
  if (!s.distance_values) return;
  const Var& table = s.distance_values;
  require(table.shape().rank() == 2 && table.rows() == v.cols() / heads && table.cols() % 2 == 1,
          "{}: vectors of distances for values are {}, expected ({},2R+1)", op, table.shape(), v.cols() / heads);
}

// Calls f with head h's columns of weights summed by distance (N,2R+1) and of values (N,V).
template <class F>
void each_head(const Tensor& by_distance, const Tensor& y, int heads, const F& f) {
  const int64_t W = by_distance.cols() / heads, V = y.cols() / heads;
  for (int h = 0; h < heads; ++h) f(by_distance.columns(h * W, W), y.columns(h * V, V));
}

// y = x · tableᵀ. A packed table gives rows that do not depend on each other.
void multiply_head(const Context& cx, const Tensor& y, const Tensor& x, const Var& table, const Tensor* packed,
                   const Tensor& scratch) {
  if (packed)
    cx.backend.linear_packed(y, x, *packed, Tensor(), Activation::none, scratch);
  else
    cx.backend.linear(y, x, table, Tensor(), Activation::none);
}

// y += by_distance · tableᵀ, head by head.
void add_distance_values(const Context& cx, const Tensor& y, const Tensor& by_distance, const Var& table, int heads) {
  const Tensor* packed = cx.packed_form(table);
  const Tensor scratch =
      packed ? cx.scratch(cx.backend.linear_packed_scratch(y.rows(), table.cols(), packed->dtype())) : Tensor();
  const Tensor values = cx.save(y.shape(), y.dtype());
  each_head(by_distance, values, heads, [&](const Tensor& weights, const Tensor& of_head) {
    multiply_head(cx, of_head, weights, table, packed, scratch);
  });
  cx.backend.add(y, values, 1);
}

// Calls f with the gradient of the bias of `queries` queries to write. The kernels write a row per query; a bias that
// all queries share gets the sum of the rows.
void with_bias_gradient(Backward& b, const Var& bias, int64_t queries, const std::function<void(Grad)>& f) {
  if (!bias || !bias.node() || bias.rows() == queries) return f(b.grad(bias));
  const Tensor rows = b.temporary({queries, bias.cols()}, bias.dtype());
  f({rows, Accumulate::no});
  const Grad sum = b.grad(bias);
  b.backend.linear_backward_weight(Grad{}, Grad{sum.tensor.reshaped({bias.cols()}), sum.mode}, rows, Tensor());
}

// Writes the gradient of the table; returns that of by_distance.
Tensor distance_gradients(Backward& b, const Tensor& by_distance, const Var& table, int heads) {
  const Tensor gradient = b.temporary(by_distance.shape(), by_distance.dtype());
  each_head(gradient, b.grad_out(), heads, [&](const Tensor& of_weights, const Tensor& dy) {
    b.backend.linear_backward_input(Grad{of_weights, Accumulate::no}, dy, table);
  });
  Grad dtable = b.grad(table);
  if (!dtable) return gradient;
  each_head(by_distance, b.grad_out(), heads, [&](const Tensor& weights, const Tensor& dy) {
    b.backend.linear_backward_weight(dtable, Grad{}, dy, weights);
    dtable.mode = Accumulate::yes;
  });
  return gradient;
}

}  // namespace

Var attention(Context& cx, const Var& stored_q, const Var& stored_k, const Var& stored_v, const AttentionShape& shape,
              const ScoreInputs& score, const std::string& name) {
  const Var& table = score.distance_values;
  const bool half = !table && is_half(stored_q.dtype()) && is_half(stored_k.dtype()) && is_half(stored_v.dtype());
  const auto input = [&](const Var& x) { return half ? x : widened(cx, x); };
  const Var q = input(stored_q), k = input(stored_k), v = input(stored_v);
  check(q, k, v, shape);
  check_score("attention", score, shape.score, shape.heads, q);
  check_distance_values("attention", score, shape.heads, v);
  require(!score.bias || shape.visible.stride == 1,
          "attention: a distance bias requires adjacent keys, but they are {} positions apart", shape.visible.stride);
  Var y = cx.make({q.rows(), v.cols()}, q.dtype(), {q, k, v, score.bias, score.vector, table});
  const int64_t key_size = q.cols() / shape.heads, value_size = v.cols() / shape.heads;
  Backend::Attention a{y,
                       cx.save({q.rows(), shape.heads}, stat_type(q.dtype())),
                       q,
                       k,
                       v,
                       score.bias,
                       score.vector,
                       shape,
                       cx.scratch(cx.backend.attention_scratch(shape, key_size, value_size)),
                       {},
                       {},
                       cx.factor_type(DType::f32)};
  if (table) a.by_distance = cx.save({q.rows(), shape.heads * table.cols()}, stat_type(q.dtype()));
  const bool observed = cx.observer && !name.empty();
  if (observed)
    a.weights = cx.save({shape.heads * shape.pairs_before(shape.queries.sentences())}, stat_type(q.dtype()));
  cx.backend.attention(a);
  if (table) add_distance_values(cx, y, a.by_distance, table, shape.heads);
  if (observed) (*cx.observer)({name, shape, a.weights, v, y});
  a.scratch = a.weights = {};
  cx.record("attention", y, [=](Backward& b) {
    Backend::Attention forward = a;
    forward.scratch = b.scratch(b.backend.attention_scratch(shape, key_size, value_size));
    const Tensor dby_distance = table ? distance_gradients(b, a.by_distance, table, shape.heads) : Tensor();
    with_bias_gradient(b, score.bias, q.rows(), [&](Grad dbias) {
      b.backend.attention_backward(Backend::AttentionBackward{
          b.grad(q), b.grad(k), b.grad(v), dbias, b.grad(score.vector), b.grad_out(), forward, dby_distance});
    });
  });
  return y;
}

Var attention_step(Context& cx, const Var& stored_q, const Tensor& k, const Tensor& v, const StepShape& shape,
                   const ScoreInputs& score, const NewKeys& own) {
  const auto& [keys, longest, heads, window, kind] = shape;
  const Var q = score.distance_values ? widened(cx, stored_q) : stored_q;  // then y is a sum of products in f32
  require(q.cols() == k.cols() && q.cols() % heads == 0 && v.cols() % heads == 0,
          "attention_step: q is {}, k {}, v {}, expected (R,H*K), (C,H*K), (C,H*V) with H = {}", q.shape(), k.shape(),
          v.shape(), heads);
  const Shape rows{q.rows()};
  require(keys.length.shape() == rows, "attention_step: length is {}, expected {}", keys.length.shape(), rows);
  require(!keys.position || keys.position.shape() == rows, "attention_step: position is {}, expected {}",
          keys.position.shape(), rows);
  require(keys.table || keys.begin.shape() == rows, "attention_step: begin is {}, expected {}", keys.begin.shape(),
          rows);
  require(!keys.table || (keys.table.shape().rank() == 2 && keys.table.rows() == q.rows()),
          "attention_step: table is {}, expected ({},T)", keys.table.shape(), q.rows());
  require(!own.rows ||
              (own.rows.shape() == rows && own.k.shape() == q.shape() && own.v.shape() == Shape({q.rows(), v.cols()})),
          "attention_step: new keys are {}, values {} and rows {}, expected {}, {} and {}", own.k.shape(),
          own.v.shape(), own.rows.shape(), q.shape(), Shape({q.rows(), v.cols()}), rows);
  check_score("attention_step", score, kind, heads, q);
  check_distance_values("attention_step", score, heads, v);
  Var y = cx.make({q.rows(), v.cols()}, q.dtype(), {q});
  const Tensor scratch = cx.scratch(cx.backend.attention_step_scratch(heads, longest));
  const Var& table = score.distance_values;
  const Tensor by_distance = table ? cx.save({q.rows(), heads * table.cols()}, stat_type(q.dtype())) : Tensor();
  cx.backend.attention_step(Backend::AttentionStep{.y = y,
                                                   .q = q,
                                                   .k = k,
                                                   .v = v,
                                                   .new_k = own.k,
                                                   .new_v = own.v,
                                                   .new_rows = own.rows,
                                                   .bias = score.bias,
                                                   .score_vector = score.vector,
                                                   .by_distance = by_distance,
                                                   .keys = keys,
                                                   .heads = heads,
                                                   .window = window,
                                                   .score = kind,
                                                   .scratch = scratch});
  if (table) add_distance_values(cx, y, by_distance, table, heads);
  return y;
}

Var distance_scores(Context& cx, const Var& stored, const Var& table, int heads) {
  const Var q = widened(cx, stored);
  require(
      q.cols() % heads == 0 && table.shape().rank() == 2 && table.cols() == q.cols() / heads && table.rows() % 2 == 1,
      "distance_scores: q is {} and table {}, expected (N,H*K) and (2R+1,K) with H = {}", q.shape(), table.shape(),
      heads);
  const int64_t K = table.cols(), W = table.rows();
  Var y = cx.make({q.rows(), heads * W}, q.dtype(), {q, table});
  const Tensor* packed = cx.packed_form(table);
  const Tensor scratch = packed ? cx.scratch(cx.backend.linear_packed_scratch(q.rows(), K, packed->dtype())) : Tensor();
  for (int h = 0; h < heads; ++h)
    multiply_head(cx, y.value().columns(h * W, W), q.value().columns(h * K, K), table, packed, scratch);
  cx.record("distance_scores", y, [=](Backward& b) {
    const Grad dq = b.grad(q);
    Grad dtable = b.grad(table);
    for (int h = 0; h < heads; ++h) {
      const Tensor dy = b.grad_out().columns(h * W, W);
      if (dq) b.backend.linear_backward_input(Grad{dq.tensor.columns(h * K, K), dq.mode}, dy, table);
      if (dtable) b.backend.linear_backward_weight(dtable, Grad{}, dy, q.value().columns(h * K, K));
      dtable.mode = Accumulate::yes;
    }
  });
  return y;
}

Var bucket_bias(Context& cx, const Var& table, std::span<const int32_t> buckets, double factor) {
  const auto W = int64_t(buckets.size());
  require(table.shape().rank() == 2 && W % 2 == 1,
          "bucket_bias: table is {} and there are {} buckets, expected (H,B) "
          "and an odd number",
          table.shape(), W);
  const int64_t H = table.rows(), B = table.cols();
  std::vector<int32_t> ids;
  for (int64_t h = 0; h < H; ++h)
    for (const int32_t bucket : buckets) ids.push_back(int32_t(h * B + bucket));
  Var y = cx.make({1, H * W}, table.dtype(), {table});
  // A lookup of single numbers.
  const Embedding e{.ids = int_tensor(std::move(ids), {H * W}),
                    .positions = int_tensor(std::vector<int32_t>(size_t(2 * H * W)), {H * W, 2}),
                    .table = table.value().reshaped({H * B, 1}),
                    .position_table = {},
                    .scale = factor,
                    .dropout = {}};
  cx.backend.embedding(y.value().reshaped({H * W, 1}), e);
  cx.record("bucket_bias", y, [=](Backward& b) {
    const Grad dtable = b.grad(table);
    if (dtable)
      b.backend.embedding_backward(Grad{dtable.tensor.reshaped({H * B, 1}), dtable.mode}, Grad{},
                                   b.grad_out().reshaped({H * W, 1}), e);
  });
  return y;
}

Var rotate(Context& cx, const Var& stored, const Tensor& table, const Tensor& positions, int heads) {
  const Var x = widened(cx, stored);
  require(x.cols() % (2 * heads) == 0 && table.cols() == x.cols() / heads,
          "rotate: x is {} and table {}, expected (N,H*K) and (P,K) with H = {} and an even K", x.shape(),
          table.shape(), heads);
  require(positions.shape() == Shape({x.rows(), 2}), "rotate: positions is {}, expected {}", positions.shape(),
          Shape({x.rows(), 2}));
  Var y = cx.make(x.shape(), x.dtype(), {x});
  cx.backend.rotate(y, x, table, positions, heads, 1);
  cx.record("rotate", y, [=](Backward& b) {
    b.backend.rotate(b.grad_out(), b.grad_out(), table, positions, heads, -1);
    b.pass(x);
  });
  return y;
}

}  // namespace dragoman
