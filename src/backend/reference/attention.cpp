#include <cmath>
#include <limits>

#include "backend/attention.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/decoding.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

template <class T>
View<T> part(View<T> x, Range rows, int64_t head, int64_t size) {
  return {x.row(rows.begin) + head * size, rows.end - rows.begin, size, x.stride};
}

// Columns of one head in the rows of one sentence; empty for an empty tensor.
template <class T>
View<T> head_of(const Tensor& x, Range rows, int head, int heads) {
  return x ? part(x.view<T>(), rows, head, x.cols() / heads) : View<T>{};
}

// score(q, k) before a bias; `w` is the head's score vector
template <class T, class Query, class Key>
T score_of(Score score, const Query* q, const Key* k, const T* w, int64_t size) {
  T sum = 0;
  for (int64_t d = 0; d < size; ++d)
    sum += score == Score::additive ? w[d] * std::tanh(T(q[d]) + T(k[d])) : T(q[d]) * T(k[d]);
  return sum;
}

// One head of one sentence. Rows are counted from the sentence's first.
template <class T>
struct Head {
  const AttentionKernels::Attention& a;
  int sentence, head;
  View<T> q, k, v;  // (nq,K) (nk,K) (nk,V)
  T* w;             // (K), additive only

  Head(const AttentionKernels::Attention& a, int s, int h)
      : a(a),
        sentence(s),
        head(h),
        q(head_of<T>(a.q, a.shape.queries[s], h, a.shape.heads)),
        k(head_of<T>(a.k, a.shape.keys[s], h, a.shape.heads)),
        v(head_of<T>(a.v, a.shape.keys[s], h, a.shape.heads)),
        w(a.score_vector ? a.score_vector.as<T>() + h * q.cols : nullptr) {}

  int64_t row(int64_t i) const { return a.shape.queries[sentence].begin + i; }
  T scale() const { return T(score_scale(a.shape.score, q.cols)); }
  T& bias(const Tensor& of, int64_t i, int64_t j) const {
    return of.view<T>()(DistanceBias::row(of, row(i)), DistanceBias::column(of, a.shape.heads, head, j - i));
  }
  // Where the key's distance from the query is in a matrix of rows for queries, with columns as in a DistanceBias.
  T& at_distance(const Tensor& of, int64_t i, int64_t j) const {
    return of.view<T>()(row(i), DistanceBias::column(of, a.shape.heads, head, j - i));
  }
  T score(int64_t i, int64_t j) const {
    const T sum = score_of(a.shape.score, q.row(i), k.row(j), w, q.cols);
    return (a.bias ? sum + bias(a.bias, i, j) : sum) * scale();
  }
  T keep(int64_t i, int64_t j) const {
    return T(dropout_factor(a.shape.dropout, row(i), a.shape.dropout.op * 4096 + uint32_t(head), j));
  }
};

// y_i = Σ_j p_ij v_j,  p_i = softmax_j(score_ij)  (Vaswani et al. 2017, eq. 1). If all keys are masked, y_i = 0.
template <class T>
void attend(const Head<T>& h, View<T> y, View<T> lse, T* weights) {
  for (int64_t i = 0; i < h.q.rows; ++i) {
    const Range seen = h.a.shape.visible.keys(i, h.k.rows);
    T top = -std::numeric_limits<T>::infinity(), sum = 0;
    for (int64_t j = seen.begin; j < seen.end; ++j) top = std::max(top, h.score(i, j));
    for (int64_t j = seen.begin; j < seen.end; ++j) sum += std::exp(h.score(i, j) - top);
    const T log_sum = lse(h.row(i), h.head) = seen.begin < seen.end ? top + std::log(sum) : T(0);
    for (int64_t d = 0; d < y.cols; ++d) y(i, d) = 0;
    for (int64_t j = 0; weights && j < h.k.rows; ++j) weights[i * h.k.rows + j] = 0;
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      const T p = std::exp(h.score(i, j) - log_sum), m = h.keep(i, j);
      if (weights) weights[i * h.k.rows + j] = p;
      if (h.a.by_distance) h.at_distance(h.a.by_distance, i, j) += p * m;
      for (int64_t d = 0; d < y.cols; ++d) y(i, d) += p * m * h.v(j, d);
    }
  }
}

void attention(const AttentionKernels::Attention& a) {
  for_dtype(a.q.dtype(), [&]<class T>() {
    if (a.by_distance) begin(a.by_distance.view<T>(), Accumulate::no);
    for (int s = 0; s < a.shape.queries.sentences(); ++s)
      for (int h = 0; h < a.shape.heads; ++h) {
        const Head<T> head(a, s, h);
        const int64_t pairs = a.shape.pairs_before(s) * a.shape.heads + h * head.q.rows * head.k.rows;
        attend(head, head_of<T>(a.y, a.shape.queries[s], h, a.shape.heads), a.lse.view<T>(),
               a.weights ? a.weights.as<T>() + pairs : nullptr);
      }
  });
}

template <class T>
struct HeadGradients {
  View<T> dq, dk, dv;
  T* dw;
};

// d score / d q and k: k and q for a dot product; w (1 - tanh²(q + k)) for an additive score, for both.
template <class T>
void score_backward(const Head<T>& h, const HeadGradients<T>& g, T ds, int64_t i, int64_t j) {
  for (int64_t d = 0; d < h.q.cols; ++d) {
    T to_q = h.k(j, d), to_k = h.q(i, d);
    if (h.w) {
      const T t = std::tanh(h.q(i, d) + h.k(j, d));
      to_q = to_k = h.w[d] * (1 - t * t);
      if (g.dw) g.dw[d] += ds * t;
    }
    if (g.dq) g.dq(i, d) += ds * to_q;
    if (g.dk) g.dk(j, d) += ds * to_k;
  }
}

// With p = softmax weights, m = dropout factors, dp_ij = m_ij · dy_i · v_j and c_i = dy_i · y_i (= Σ_j p_ij dp_ij; the
// gradient g of by_distance adds m_ij · g(i, j - i) to dp_ij, and y contains what by_distance adds to it):
// ds_ij = p_ij (dp_ij - c_i), through the scale;  dv_j = Σ_i m_ij p_ij dy_i.
template <class T>
void attend_backward(const Head<T>& h, const HeadGradients<T>& g, const AttentionKernels::AttentionBackward& b,
                     View<T> dy, View<T> y) {
  const Tensor& dbias = b.dbias.tensor;
  for (int64_t i = 0; i < h.q.rows; ++i) {
    const Range seen = h.a.shape.visible.keys(i, h.k.rows);
    T c = 0;
    for (int64_t d = 0; d < y.cols; ++d) c += dy(i, d) * y(i, d);
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      const T p = std::exp(h.score(i, j) - h.a.lse.template view<T>()(h.row(i), h.head)), m = h.keep(i, j);
      T dp = 0;
      for (int64_t d = 0; d < y.cols; ++d) dp += m * dy(i, d) * h.v(j, d);
      if (b.dby_distance) dp += m * h.at_distance(b.dby_distance, i, j);
      for (int64_t d = 0; g.dv && d < y.cols; ++d) g.dv(j, d) += m * p * dy(i, d);
      const T ds = p * (dp - c) * h.scale();
      if (dbias) h.bias(dbias, i, j) += ds;
      score_backward(h, g, ds, i, j);
    }
  }
}

void attention_backward(const AttentionKernels::AttentionBackward& b) {
  for_dtype(b.dy.dtype(), [&]<class T>() {
    const AttentionShape& a = b.forward.shape;
    for (const Grad* g : {&b.dq, &b.dk, &b.dv, &b.dbias, &b.dscore_vector})
      if (*g) begin(g->tensor.view<T>(), g->mode);
    for (int s = 0; s < a.queries.sentences(); ++s)
      for (int h = 0; h < a.heads; ++h) {
        const Head<T> head(b.forward, s, h);
        const HeadGradients<T> gradients{head_of<T>(b.dq.tensor, a.queries[s], h, a.heads),
                                         head_of<T>(b.dk.tensor, a.keys[s], h, a.heads),
                                         head_of<T>(b.dv.tensor, a.keys[s], h, a.heads),
                                         b.dscore_vector ? b.dscore_vector.tensor.as<T>() + h * head.q.cols : nullptr};
        attend_backward(head, gradients, b, head_of<T>(b.dy, a.queries[s], h, a.heads),
                        head_of<T>(b.forward.y, a.queries[s], h, a.heads));
      }
  });
}

// One decoding step: row r of q against its own keys, found through StepKeys. Queries and keys may have 16 bits; T is
// the type of sums.
template <class T, class Query, class Key>
void step(const AttentionKernels::AttentionStep& a, int64_t r, int h) {
  const int64_t length = a.keys.length.as<int32_t>()[r];
  const int64_t position = a.keys.position ? a.keys.position.as<int32_t>()[r] : length - 1;
  const auto table = a.keys.table.view<int32_t>();
  const auto key_row = [&](int64_t t) { return int(table ? table(r, t) : a.keys.begin.as<int32_t>()[r] + t); };
  const auto head = [&]<class Stored>(const Tensor& x, int64_t row) {
    return x.view<Stored>().row(row) + h * (x.cols() / a.heads);
  };
  const auto key = [&](const Tensor& x, int64_t t) { return head.template operator()<Key>(x, key_row(t)); };
  const int64_t size = a.q.cols() / a.heads, value_size = a.v.cols() / a.heads;
  const Range seen = Visibility{.window = a.window}.keys(position, length);
  std::vector<T> p(length);
  T top = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t t = seen.begin; t < seen.end; ++t) {
    p[t] = score_of<T>(a.score, head.template operator()<Query>(a.q, r), key(a.k, t),
                       a.score_vector ? a.score_vector.as<T>() + h * size : nullptr, size);
    if (a.bias)
      p[t] += a.bias.view<T>()(DistanceBias::row(a.bias, r), DistanceBias::column(a.bias, a.heads, h, t - position));
    p[t] *= T(score_scale(a.score, size));
    top = std::max(top, p[t]);
  }
  for (int64_t t = seen.begin; t < seen.end; ++t) sum += p[t] = std::exp(p[t] - top);
  for (int64_t t = seen.begin; t < seen.end; ++t) p[t] /= sum;
  for (int64_t t = seen.begin; a.by_distance && t < seen.end; ++t)
    a.by_distance.view<T>()(r, DistanceBias::column(a.by_distance, a.heads, h, t - position)) += p[t];
  for (int64_t d = 0; d < value_size; ++d) {
    T out = 0;
    for (int64_t t = seen.begin; t < seen.end; ++t) out += p[t] * T(key(a.v, t)[d]);
    head.template operator()<Query>(a.y, r)[d] = Query(out);
  }
}

}  // namespace

void attention_step(const AttentionKernels::AttentionStep& a) {
  if (a.new_rows) {
    scatter_rows(a.k, a.new_k, a.new_rows);
    scatter_rows(a.v, a.new_v, a.new_rows);
  }
  for_stored(a.q.dtype(), [&]<class Query>() {
    for_stored(a.k.dtype(), [&]<class Key>() {
      using T = std::conditional_t<std::is_same_v<Query, double>, double, float>;
      if (a.by_distance) begin(a.by_distance.view<T>(), Accumulate::no);
      for (int64_t r = 0; r < a.q.rows(); ++r)
        for (int h = 0; h < a.heads; ++h) step<T, Query, Key>(a, r, h);
    });
  });
}

namespace {

// The pair (x_c, x_{c+K/2}) of a head turns by the angle θ with sin θ, cos θ = table_c, table_{c+K/2}.
void rotate(const Tensor& y, const Tensor& x, const Tensor& table, const Tensor& positions, int heads, int direction) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>(), sinusoids = table.view<T>();
    const int64_t K = X.cols / heads, half = K / 2;
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t first = 0; first < X.cols; first += K)
        for (int64_t c = 0; c < half; ++c) {
          const int32_t token = positions.view<int32_t>()(n, 1);
          const T sine = T(direction) * sinusoids(token, c), cosine = sinusoids(token, c + half);
          const T a = X(n, first + c), b = X(n, first + c + half);
          Y(n, first + c) = cosine * a - sine * b;
          Y(n, first + c + half) = sine * a + cosine * b;
        }
  });
}

}  // namespace

void install_attention(AttentionKernels& b) {
  b.attention_scratch = [](const AttentionShape&, int64_t, int64_t) -> int64_t { return 0; };
  b.attention = attention;
  b.attention_backward = attention_backward;
  b.attention_step_scratch = [](int, int64_t) -> int64_t { return 0; };
  b.attention_step = attention_step;
  b.rotate = rotate;
}

}  // namespace dragoman::reference
