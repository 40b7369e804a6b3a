#pragma once
#include "backend/attention.h"
#include "backend/cpu/convert.h"
#include "base/threads.h"

namespace dragoman::cpu {

constexpr int64_t query_block = 16;  // queries whose weights are held at once

template <class T>
View<T> head_dim(View<T> x, Range rows, int head, int heads) {
  if (!x) return {};
  const int64_t size = x.cols / heads;
  return {x.row(rows.begin) + head * size, rows.end - rows.begin, size, x.stride};
}

inline View<const float> as_const(View<float> x) { return {x.data, x.rows, x.cols, x.stride}; }

template <class T>
View<T> rows_of(View<T> x, int64_t first, int64_t count) {
  return {x.row(first), count, x.cols, x.stride};
}

/// Rows of one head as floats: a tensor of floats is used in place, one of bfloat16 is converted to a copy in `room`.
struct HeadRows {
  float* room;
  int head, heads;

  View<float> read(const Tensor& x, Range rows) {
    const View<float> values = result(x, rows);
    if (x && x.dtype() == DType::bf16) convert_rows(borrowed(values), part(x, rows), Accumulate::no);
    return values;
  }
  /// Memory in which to compute the values of a result, which `write` then stores in the tensor.
  View<float> result(const Tensor& x, Range rows) {
    if (!x || x.dtype() == DType::f32) return head_dim(x.view<float>(), rows, head, heads);
    const View<float> values{room, rows.end - rows.begin, x.cols() / heads, x.cols() / heads};
    room += (values.rows * values.cols + 15) / 16 * 16;
    return values;
  }
  void write(const Tensor& x, Range rows, View<float> values, Accumulate mode = Accumulate::no) const {
    if (x && x.dtype() == DType::bf16) convert_rows(part(x, rows), borrowed(values), mode);
  }

 private:
  Tensor part(const Tensor& x, Range rows) const {
    const int64_t size = x.cols() / heads;
    return x.row_range(rows.begin, rows.end - rows.begin).columns(head * size, size);
  }
  static Tensor borrowed(View<float> x) { return Tensor::borrow(x.data, {x.rows, x.cols}); }
};

/// One head of one sentence. Rows are counted from the sentence's first, which is `row` in lse, bias and positions.
struct AttentionHead {
  const AttentionKernels::Attention& a;
  int head;
  int64_t row;
  View<const float> q, k, v;  // (nq,K) (nk,K) (nk,V)

  AttentionHead(const AttentionKernels::Attention& a, int sentence, HeadRows& rows)
      : a(a),
        head(rows.head),
        row(a.shape.queries[sentence].begin),
        q(as_const(rows.read(a.q, a.shape.queries[sentence]))),
        k(as_const(rows.read(a.k, a.shape.keys[sentence]))),
        v(as_const(rows.read(a.v, a.shape.keys[sentence]))) {}

  bool additive() const { return a.shape.score == Score::additive; }
  const float* vector() const { return a.score_vector.as<float>() + head * q.cols; }
  float scale() const { return float(score_scale(a.shape.score, q.cols)); }
  const int32_t* position(int64_t i) const { return a.shape.dropout.positions.view<int32_t>().row(row + i); }
  /// The bias of query i at distance 0, in a (bias or its gradient).
  float* bias(const Tensor& of, int64_t i) const {
    return of.view<float>().row(DistanceBias::row(of, row + i)) + DistanceBias::column(of, a.shape.heads, head, 0);
  }
  int64_t reach(const Tensor& by_distance) const { return DistanceBias::reach(by_distance, a.shape.heads); }
  Range seen(int64_t i) const { return a.shape.visible.keys(i, k.rows); }
  /// Likewise in a matrix with a row for each query.
  float* by_distance(const Tensor& of, int64_t i) const {
    return of.view<float>().row(row + i) + DistanceBias::column(of, a.shape.heads, head, 0);
  }
  /// Keys visible to some query of a block, starting at a multiple of 16: the block uses no others.
  Range keys_of_block(int64_t first, int64_t count) const {
    const Range a_first = a.shape.visible.keys(first, k.rows), a_last = a.shape.visible.keys(first + count - 1, k.rows);
    return {std::min(a_first.begin, a_last.begin) / 16 * 16, std::max(a_first.end, a_last.end)};
  }
};

/// Outputs of attention backward for one head; empty views are not computed. dk, dv and dvector are accumulated.
struct HeadGradients {
  View<float> dq, dk, dv;
  Tensor dbias;    // of all heads
  float* dvector;  // (K) of this sentence alone
  bool dq_adds;
  Tensor by_distance;  // of all heads: the gradient of forward.by_distance, or empty
};

/// One thread's scratch: transposed keys and values, weights and gradients of a block of queries.
struct AttentionScratch {
  float *keys, *values;        // (K,stride) (V,stride)
  float *weights, *gradients;  // (query_block,stride)
  float* factors;              // stride rounded up to 128
  float* key_gradients;        // (K,stride), additive scores only
  int64_t stride;              // keys of the sentence rounded up to a vector
};

inline int64_t padded_keys(int64_t keys) { return (keys + 15) / 16 * 16; }

inline int64_t thread_floats(const AttentionShape& a, int64_t key_size, int64_t value_size) {
  const int64_t columns = key_size * (a.score == Score::additive ? 2 : 1) + value_size + 2 * query_block + 1;
  const int64_t rows = (a.queries.longest() + a.keys.longest()) * 2 * (key_size + value_size) + 8 * 16;
  return padded_keys(a.keys.longest()) * columns + 128 + rows;
}

/// After the threads' scratch: a gradient of the score vector per sentence and head, to be summed in order.
inline float* vector_gradients(const Tensor& scratch, const AttentionShape& a, int64_t key_size, int64_t value_size) {
  return static_cast<float*>(scratch.data()) + thread_count() * thread_floats(a, key_size, value_size);
}

inline int64_t attention_scratch_bytes(const AttentionShape& a, int64_t key_size, int64_t value_size) {
  const int64_t vectors = a.score == Score::additive ? int64_t{a.queries.sentences()} * a.heads * key_size : 0;
  return (thread_count() * thread_floats(a, key_size, value_size) + vectors) * int64_t{sizeof(float)};
}

inline float* thread_scratch(const AttentionKernels::Attention& a, int thread) {
  const int heads = a.shape.heads;
  return static_cast<float*>(a.scratch.data()) +
         thread * thread_floats(a.shape, a.q.cols() / heads, a.v.cols() / heads);
}

/// Room for HeadRows comes first; the rest is sized for this head.
inline AttentionScratch scratch_of(float* at, const AttentionHead& h) {
  const int64_t stride = padded_keys(h.k.rows);
  AttentionScratch s{.keys = at, .stride = stride};
  s.values = s.keys + h.q.cols * stride;
  s.weights = s.values + h.v.cols * stride;
  s.gradients = s.weights + query_block * stride;
  s.key_gradients = s.gradients + query_block * stride;
  s.factors = s.key_gradients + (h.additive() ? h.q.cols * stride : 0);
  return s;
}

}  // namespace dragoman::cpu
