#pragma once
#include "backend/backend.h"
#include "base/threads.h"

namespace dragoman::cpu {

constexpr int64_t query_block = 16;  // queries whose weights are held at a time

/// Where a head of a sentence lies: its index and the first query's row in lse and places.
struct HeadPlace {
  int head;
  int64_t row;
};

/// What attention backward writes for one head; empty views are not wanted. dk and dv are added to.
struct HeadGradients {
  View<float> dq, dk, dv;
  bool dq_adds;
};

/// One thread's working memory: transposed keys and values, weights and gradients of a block of queries.
struct AttentionScratch {
  float *keys, *values;        // (K,stride) (V,stride)
  float *weights, *gradients;  // (query_block,stride)
  float* factors;              // stride rounded up to 128
  int64_t stride;              // keys of the sentence rounded up to a vector
};

inline int64_t padded_keys(int64_t keys) { return (keys + 15) / 16 * 16; }

inline int64_t thread_floats(int64_t longest, int64_t key_size, int64_t value_size) {
  return padded_keys(longest) * (key_size + value_size + 2 * query_block) + padded_keys(longest) + 128;
}

inline int64_t attention_scratch_bytes(const AttentionShape& a, int64_t key_size, int64_t value_size) {
  return thread_count() * thread_floats(a.keys.longest(), key_size, value_size) * int64_t{sizeof(float)};
}

inline AttentionScratch scratch_of(const Tensor& scratch, int thread, const AttentionShape& a, int64_t key_size,
                                   int64_t value_size, int64_t keys) {
  float* at = static_cast<float*>(scratch.data()) + thread * thread_floats(a.keys.longest(), key_size, value_size);
  const int64_t stride = padded_keys(keys);
  AttentionScratch s{.keys = at, .stride = stride};
  s.values = s.keys + key_size * stride;
  s.weights = s.values + value_size * stride;
  s.gradients = s.weights + query_block * stride;
  s.factors = s.gradients + query_block * stride;
  return s;
}

template <class T>
View<T> rows_of(View<T> x, int64_t first, int64_t count) {
  return {x.row(first), count, x.cols, x.stride};
}

}  // namespace dragoman::cpu
