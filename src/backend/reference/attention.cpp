#include <cmath>
#include <limits>

#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// One head of one sentence. Rows are counted from the sentence's first.
template <class T>
struct Head {
  const AttentionShape& shape;
  View<T> q, k, v;  // (nq,K) (nk,K) (nk,V)
  int sentence, head;

  T score(int64_t i, int64_t j) const {
    T dot = 0;
    for (int64_t d = 0; d < q.cols; ++d) dot += q(i, d) * k(j, d);
    const auto bias = shape.visible.bias.view<T>();
    return dot * T(AttentionShape::scale(q.cols)) + (bias ? bias(head, shape.visible.bias_column(i, j)) : T(0));
  }
  T keep(int64_t i, int64_t j) const {
    return T(
        dropout_factor(shape.dropout, shape.queries[sentence].begin + i, shape.dropout.op * 4096 + uint32_t(head), j));
  }
};

template <class T>
View<T> part(View<T> x, Range rows, int64_t head, int64_t size) {
  return {x.row(rows.begin) + head * size, rows.end - rows.begin, size, x.stride};
}

template <class T>
Head<T> head_of(const AttentionShape& a, View<T> q, View<T> k, View<T> v, int sentence, int head) {
  return {a,
          part(q, a.queries[sentence], head, q.cols / a.heads),
          part(k, a.keys[sentence], head, k.cols / a.heads),
          part(v, a.keys[sentence], head, v.cols / a.heads),
          sentence,
          head};
}

// y_i = Σ_j p_ij v_j,  p_i = softmax_j(q_i · k_j / √K)  (Vaswani et al. 2017, eq. 1). A query that sees no key gives 0.
template <class T>
void attend(const Head<T>& h, View<T> y, View<T> lse, int64_t first) {
  for (int64_t i = 0; i < h.q.rows; ++i) {
    const Range seen = h.shape.visible.keys(i, h.k.rows);
    T top = -std::numeric_limits<T>::infinity(), sum = 0;
    for (int64_t j = seen.begin; j < seen.end; ++j) top = std::max(top, h.score(i, j));
    for (int64_t j = seen.begin; j < seen.end; ++j) sum += std::exp(h.score(i, j) - top);
    lse(first + i, h.head) = seen.begin < seen.end ? top + std::log(sum) : T(0);
    for (int64_t d = 0; d < y.cols; ++d) y(i, d) = 0;
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      const T p = std::exp(h.score(i, j) - lse(first + i, h.head)) * h.keep(i, j);
      for (int64_t d = 0; d < y.cols; ++d) y(i, d) += p * h.v(j, d);
    }
  }
}

void attention(const Tensor& y, const Tensor& lse, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionShape& a, const Tensor&) {
  for_dtype(q.dtype(), [&]<class T>() {
    const auto Y = y.view<T>();
    for (int s = 0; s < a.queries.sentences(); ++s)
      for (int h = 0; h < a.heads; ++h)
        attend(head_of(a, q.view<T>(), k.view<T>(), v.view<T>(), s, h), part(Y, a.queries[s], h, Y.cols / a.heads),
               lse.view<T>(), a.queries[s].begin);
  });
}

// With p = softmax weights, m = dropout factors, dp_ij = m_ij · dy_i · v_j and c_i = dy_i · y_i (= Σ_j p_ij dp_ij):
// ds_ij = p_ij (dp_ij - c_i);  dq_i = Σ_j ds_ij k_j / √K;  dk_j = Σ_i ds_ij q_i / √K;  dv_j = Σ_i m_ij p_ij dy_i.
template <class T>
void attend_backward(const Head<T>& h, View<T> dq, View<T> dk, View<T> dv, View<T> dy, View<T> y, View<T> lse,
                     int64_t first) {
  const T scale = T(AttentionShape::scale(h.q.cols));
  for (int64_t i = 0; i < h.q.rows; ++i) {
    const Range seen = h.shape.visible.keys(i, h.k.rows);
    T c = 0;
    for (int64_t d = 0; d < y.cols; ++d) c += dy(i, d) * y(i, d);
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      const T p = std::exp(h.score(i, j) - lse(first + i, h.head)), m = h.keep(i, j);
      T dp = 0;
      for (int64_t d = 0; d < y.cols; ++d) dp += m * dy(i, d) * h.v(j, d);
      for (int64_t d = 0; dv && d < y.cols; ++d) dv(j, d) += m * p * dy(i, d);
      const T ds = p * (dp - c) * scale;
      for (int64_t d = 0; dq && d < h.q.cols; ++d) dq(i, d) += ds * h.k(j, d);
      for (int64_t d = 0; dk && d < h.q.cols; ++d) dk(j, d) += ds * h.q(i, d);
    }
  }
}

void attention_backward(const Backend::AttentionBackward& b) {
  for_dtype(b.dy.dtype(), [&]<class T>() {
    const AttentionShape& a = b.shape;
    for (const Grad* g : {&b.dq, &b.dk, &b.dv})
      if (*g) begin(g->tensor.view<T>(), g->mode);
    const auto of_head = [&](const Tensor& x, const Spans& spans, int s, int h) {
      return x ? part(x.view<T>(), spans[s], h, x.cols() / a.heads) : View<T>{};
    };
    for (int s = 0; s < a.queries.sentences(); ++s)
      for (int h = 0; h < a.heads; ++h)
        attend_backward(head_of(a, b.q.view<T>(), b.k.view<T>(), b.v.view<T>(), s, h),
                        of_head(b.dq.tensor, a.queries, s, h), of_head(b.dk.tensor, a.keys, s, h),
                        of_head(b.dv.tensor, a.keys, s, h), of_head(b.dy, a.queries, s, h),
                        of_head(b.y, a.queries, s, h), b.lse.view<T>(), a.queries[s].begin);
  });
}

// One decoding step: row r of q against its own keys, found through StepKeys.
void attention_step(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v, const StepKeys& keys, int heads,
                    const Tensor&) {
  for_dtype(q.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), Q = q.view<T>(), K = k.view<T>(), V = v.view<T>();
    const auto length = keys.length.view<int32_t>(), begin = keys.begin.view<int32_t>(),
               table = keys.table.view<int32_t>();
    const int64_t size = Q.cols / heads, value_size = V.cols / heads;
    for (int64_t r = 0; r < Q.rows; ++r)
      for (int h = 0; h < heads; ++h) {
        std::vector<T> p(length(r));
        const auto row = [&](int64_t t) { return table ? table(r, t) : begin(r) + t; };
        T top = -std::numeric_limits<T>::infinity(), sum = 0;
        for (int64_t t = 0; t < length(r); ++t) {
          T dot = 0;
          for (int64_t d = 0; d < size; ++d) dot += Q(r, h * size + d) * K(row(t), h * size + d);
          p[t] = dot * T(AttentionShape::scale(size));
          top = std::max(top, p[t]);
        }
        for (T& x : p) sum += x = std::exp(x - top);
        for (int64_t d = 0; d < value_size; ++d) {
          T out = 0;
          for (int64_t t = 0; t < length(r); ++t) out += p[t] / sum * V(row(t), h * value_size + d);
          Y(r, h * value_size + d) = out;
        }
      }
  });
}

}  // namespace

void install_attention(Backend& b) {
  b.attention_scratch = [](const AttentionShape&, int64_t, int64_t) -> int64_t { return 0; };
  b.attention = attention;
  b.attention_backward = attention_backward;
  b.attention_step_scratch = [](int64_t) -> int64_t { return 0; };
  b.attention_step = attention_step;
}

}  // namespace dragoman::reference
