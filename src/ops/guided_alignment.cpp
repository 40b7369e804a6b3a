#include "ops/guided_alignment.h"

#include <algorithm>

#include "backend/backend.h"
#include "ops/dropout.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

/// For each row of one side, the rows of the other that it is linked to and the weights of these links.
struct LinkTable {
  Tensor rows, weights;  // (N,L) int32, -1 for none  (N,L) of the type of q
};

Tensor numbers(const std::vector<double>& values, const Shape& shape, DType dtype) {
  if (dtype == DType::f64) return double_tensor(values, shape);
  return float_tensor({values.begin(), values.end()}, shape);
}

LinkTable table_of(const std::vector<AttentionLink>& links, int32_t AttentionLink::*row, int32_t AttentionLink::*other,
                   int64_t N, DType dtype) {
  std::vector<int64_t> count(size_t(N), 0);
  for (const AttentionLink& link : links) ++count[size_t(link.*row)];
  const int64_t L = std::max<int64_t>(1, N > 0 ? *std::ranges::max_element(count) : 0);
  std::vector<int32_t> rows(size_t(N * L), -1);
  std::vector<double> weights(size_t(N * L), 0);
  std::ranges::fill(count, 0);
  for (const AttentionLink& link : links) {
    const auto at = size_t((link.*row) * L + count[size_t(link.*row)]++);
    rows[at] = link.*other;
    weights[at] = link.weight;
  }
  return {int_tensor(std::move(rows), {N, L}), numbers(weights, {N, L}, dtype)};
}

// The rows of k that each query sees.
std::vector<Range> visible_keys(const AttentionShape& shape) {
  std::vector<Range> keys_of(size_t(shape.queries.rows()));
  for (int s = 0; s < shape.queries.sentences(); ++s) {
    const Range queries = shape.queries[s], keys = shape.keys[s];
    for (int64_t n = queries.begin; n < queries.end; ++n) {
      const Range range = shape.visible.keys(n - queries.begin, keys.end - keys.begin);
      keys_of[size_t(n)] = {keys.begin + range.begin, keys.begin + range.end};
    }
  }
  return keys_of;
}

// The links between rows that see each other.
std::vector<AttentionLink> seen(const std::vector<AttentionLink>& links, const AttentionShape& shape,
                                const std::vector<Range>& keys_of) {
  std::vector<AttentionLink> kept;
  for (const AttentionLink& link : links) {
    require(link.query >= 0 && link.query < shape.queries.rows() && link.key >= 0 && link.key < shape.keys.rows(),
            "guided_alignment_loss: a link of query {} and key {}, but there are {} and {}", link.query, link.key,
            shape.queries.rows(), shape.keys.rows());
    const Range range = keys_of[size_t(link.query)];
    if (range.begin <= link.key && link.key < range.end) kept.push_back(link);
  }
  return kept;
}

/// With the weights W_i = Σ w of a query's links and the scale c of scores, log a_ij = c q_i·k_j - lse_i, so
///   loss_i = W_i lse_i - c Σ w q_i·k_j,
///   dq_i = c (W_i Σ_j a_ij k_j - Σ w k_j),  dk_j = c (Σ_i a_ij W_i q_i - Σ w q_i).
/// The first sums are those of an attention whose values are its keys, forward and backward; the others are sparse.
class GuidedAlignment {
 public:
  GuidedAlignment(Context& cx, const Var& q, const Var& k, const AttentionShape& shape,
                  const std::vector<AttentionLink>& links)
      : cx_(cx),
        q_(q),
        k_(k),
        of_queries_(table_of(links, &AttentionLink::query, &AttentionLink::key, q.rows(), q.dtype())),
        of_keys_(table_of(links, &AttentionLink::key, &AttentionLink::query, k.rows(), q.dtype())),
        scale_(score_scale(shape.score, q.cols())) {
    std::vector<double> sums(size_t(q.rows()), 0);
    std::vector<int32_t> own;
    for (const AttentionLink& link : links) sums[size_t(link.query)] += double(link.weight);
    for (int32_t n = 0; n < int32_t(q.rows()); ++n) own.push_back(n);
    sums_ = {int_tensor(std::move(own), {q.rows(), 1}), numbers(sums, {q.rows(), 1}, q.dtype())};
    const int64_t K = q.cols();
    attention_ = {.y = save(q.rows(), K),
                  .lse = cx.save({q.rows(), 1}, stat_type(q.dtype())),
                  .q = q,
                  .k = k,
                  .v = k,
                  .shape = shape,
                  .scratch = cx.scratch(cx.backend.attention_scratch(shape, K, K)),
                  .factors = cx.factor_type(DType::f32)};
    cx.backend.attention(attention_);
  }

  Tensor loss() const {
    const int64_t N = q_.rows(), L = of_queries_.rows.cols();
    const Tensor scores = save(N, L), linked = save(N, 1), loss = save(N, 1);
    cx_.backend.mix_rows_backward(Grad{}, Grad{scores}, q_, k_, of_queries_.rows, of_queries_.weights);
    std::vector<int32_t> elements(size_t(N * L));
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = int32_t(i);
    const Tensor all = int_tensor(std::move(elements), {N, L});
    cx_.backend.mix_rows(linked, scores.reshaped({N * L, 1}), all, of_queries_.weights);
    cx_.backend.mix_rows(loss, attention_.lse, sums_.rows, sums_.weights);
    cx_.backend.add(loss, linked, -scale_);
    return loss;
  }

  void write_gradients() const {
    Backward root(cx_.backend, cx_.arena, q_);
    if (const Grad dq = root.grad(q_)) put(dq, mixed(attention_.y, sums_), mixed(k_, of_queries_));
    const Grad dk = root.grad(k_);
    if (!dk) return;
    const Tensor gathered = save(k_.rows(), k_.cols());
    cx_.backend.attention_backward(
        Backend::AttentionBackward{.dv = Grad{gathered}, .dy = mixed(q_, sums_), .forward = attention_});
    put(dk, gathered, mixed(q_, of_keys_));
  }

 private:
  Tensor save(int64_t rows, int64_t cols) const { return cx_.save({rows, cols}, q_.dtype()); }
  // Weighted sums of rows of x.
  Tensor mixed(const Tensor& x, const LinkTable& table) const {
    const Tensor y = save(table.rows.rows(), x.cols());
    cx_.backend.mix_rows(y, x, table.rows, table.weights);
    return y;
  }
  // to = or += scale · (a - b)
  void put(const Grad& to, const Tensor& a, const Tensor& b) const {
    if (!to.adds()) cx_.backend.fill(to.tensor, 0);
    cx_.backend.add(to.tensor, a, scale_);
    cx_.backend.add(to.tensor, b, -scale_);
  }

  Context& cx_;
  const Var &q_, &k_;
  const LinkTable of_queries_, of_keys_;
  LinkTable sums_;  // of each query: itself, weighted by the sum of its links' weights
  const double scale_;
  Backend::Attention attention_;
};

Tensor loss_of_products(Context& cx, const Var& q, const Var& k, const AttentionShape& shape,
                        const std::vector<AttentionLink>& links) {
  const GuidedAlignment guided(cx, q, k, shape, links);
  if (cx.tape) guided.write_gradients();
  return guided.loss();
}

/// Some queries that have links, with the keys that they see, as pairs in the order of queries.
struct Pairs {
  std::vector<int32_t> linked;         // the queries
  std::vector<int32_t> lengths;        // keys that each of them sees
  std::vector<int32_t> queries, keys;  // the rows of each pair
  std::vector<AttentionLink> links;    // of an element of `linked` and a pair

  int64_t count() const { return int64_t(keys.size()); }
};

// Divides queries with links into groups of about `most` pairs. `links` are sorted by query.
std::vector<Pairs> pairs_of(const std::vector<AttentionLink>& links, const std::vector<Range>& keys_of, int64_t most) {
  std::vector<Pairs> groups;
  int32_t last = -1;
  for (const AttentionLink& link : links) {
    const Range seen = keys_of[size_t(link.query)];
    const int64_t count = seen.end - seen.begin;
    if (groups.empty() || (link.query != last && groups.back().count() + count > most)) groups.emplace_back();
    Pairs& p = groups.back();
    if (link.query != last) {
      p.linked.push_back(link.query);
      p.lengths.push_back(int32_t(count));
      for (int64_t key = seen.begin; key < seen.end; ++key) {
        p.queries.push_back(link.query);
        p.keys.push_back(int32_t(key));
      }
    }
    last = link.query;
    const int64_t first = p.count() - count;
    p.links.push_back({int32_t(p.linked.size()) - 1, int32_t(first + link.key - seen.begin), link.weight});
  }
  return groups;
}

// y[i] = x[chosen[i]], of which all rows may be chosen several times.
Var repeated(Context& cx, const Var& x, std::vector<int32_t> chosen) {
  const auto [low, high] = std::ranges::minmax(chosen);
  const int64_t N = high - low + 1, first = low;
  for (int32_t& row : chosen) row -= int32_t(first);
  std::vector<int64_t> count(size_t(N), 0);
  for (const int32_t row : chosen) ++count[size_t(row)];
  const int64_t L = *std::ranges::max_element(count);
  std::vector<int32_t> copies(size_t(N * L), -1);
  std::ranges::fill(count, 0);
  for (size_t i = 0; i < chosen.size(); ++i) copies[size_t(chosen[i] * L + count[size_t(chosen[i])]++)] = int32_t(i);
  const auto P = int64_t(chosen.size());
  return copy_rows(cx, rows(x, first, N), int_tensor(std::move(chosen), {P}), int_tensor(std::move(copies), {N, L}));
}

/// Additive scores s_ij = w · tanh(q_i + k_j). Their guided attention is that of queries 1 and keys s_ij, whose product
/// is the score. Each group has a tape of its own, so that no more than its pairs are in memory.
class AdditiveGuide {
 public:
  AdditiveGuide(Context& cx, const Var& q, const Var& k, const Var& vector)
      : cx_(cx), q_(q), k_(k), vector_(vector), weight_(cx.save({1, q.cols()}, q.dtype()), node_if(cx.tape)) {
    cx.backend.copy(weight_, first_columns());
  }

  Tensor loss(const std::vector<Pairs>& groups, int64_t N) {
    const Tensor loss = cx_.save({N, 1}, q_.dtype());
    cx_.backend.fill(loss, 0);
    for (const Pairs& pairs : groups) {
      const auto count = int64_t(pairs.linked.size());
      cx_.backend.scatter_rows(loss, loss_of(pairs), int_tensor(pairs.linked, {count}));
    }
    if (cx_.tape) complete_gradients();
    return loss;
  }

 private:
  static std::shared_ptr<Node> node_if(const Tape* tape) { return tape ? std::make_shared<Node>() : nullptr; }
  Tensor first_columns() const { return row_of(vector_).columns(0, q_.cols()); }
  static Tensor row_of(const Tensor& vector) { return vector.reshaped({1, vector.elements()}); }

  Tensor loss_of(const Pairs& pairs) const {
    Tape tape;
    Context cx{.backend = cx_.backend, .arena = cx_.arena, .tape = cx_.tape ? &tape : nullptr};
    const Var sum = residual(cx, repeated(cx, q_, pairs.queries), repeated(cx, k_, pairs.keys), {});  // (P,K)
    const Var scores = linear(cx, activation(cx, sum, Activation::tanh), weight_, Var());             // (P,1)
    const auto count = int64_t(pairs.linked.size());
    const Var ones(cx.save({count, 1}, q_.dtype()));
    cx.backend.fill(ones, 1);
    const AttentionShape shape{
        Spans::one_row_each(count), Spans::of_lengths(pairs.lengths), 1, Visibility::all(), Score::dot, {}};
    const Tensor loss = loss_of_products(cx, ones, scores, shape, pairs.links);
    tape.backward(cx.backend, cx.arena);
    return loss;
  }

  // That of the vector, and zeros for what no group has written.
  void complete_gradients() const {
    Backward root(cx_.backend, cx_.arena, q_);
    for (const Var* x : {&q_, &k_, &vector_})
      if (const Grad to = root.grad(*x); to && !to.adds()) cx_.backend.fill(to.tensor, 0);
    if (const Grad to = root.grad(vector_); to && weight_.node()->written)
      cx_.backend.add(row_of(to.tensor).columns(0, q_.cols()), weight_.node()->gradient, 1);
  }

  Context& cx_;
  const Var &q_, &k_, &vector_;
  const Var weight_;  // (1,K), a copy of the vector's first elements
};

constexpr int64_t most_pairs = 4096;  // with 512 columns, 8 MiB for each of a few matrices

}  // namespace

Tensor guided_alignment_loss(Context& cx, const Var& stored_q, const Var& stored_k, const AttentionShape& shape,
                             const std::vector<AttentionLink>& links, const Var& vector) {
  const Var q = widened(cx, stored_q), k = widened(cx, stored_k);
  require(q.cols() == k.cols() && q.rows() == shape.queries.rows() && k.rows() == shape.keys.rows(),
          "guided_alignment_loss: q is {} and k {}, expected ({},K) and ({},K)", q.shape(), k.shape(),
          shape.queries.rows(), shape.keys.rows());
  require(shape.heads == 1, "guided_alignment_loss: expected one head, found {}", shape.heads);
  const bool additive = shape.score == Score::additive;
  require(additive == bool(vector) && (!vector || vector.value().elements() >= q.cols()),
          "guided_alignment_loss: the vector of the score is {}, expected {}", vector.shape(),
          additive ? fmt::format("at least {} elements", q.cols()) : "none");
  const std::vector<Range> keys_of = visible_keys(shape);
  std::vector<AttentionLink> kept = seen(links, shape, keys_of);
  if (!additive) return loss_of_products(cx, q, k, shape, kept);
  std::ranges::stable_sort(kept, {}, &AttentionLink::query);
  return AdditiveGuide(cx, q, k, vector).loss(pairs_of(kept, keys_of, most_pairs), q.rows());
}

}  // namespace dragoman
