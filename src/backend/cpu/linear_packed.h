#pragma once
#include <algorithm>

#include "base/threads.h"
#include "tensor/activation.h"
#include "tensor/tensor.h"

namespace dragoman::cpu {

constexpr int64_t packed_panel = 64;  // columns stored and computed together
inline int64_t panels_of(int64_t D) { return (D + packed_panel - 1) / packed_panel; }

/// Calls f(panel, rows) on all threads, covering each row with each panel of D columns. Threads share the panels and,
/// if these are few, also the rows; each gets at least `worth` multiply-adds of N·D·K.
template <class F>
void each_panel(int64_t N, int64_t K, int64_t D, int64_t worth, const F& f) {
  const int64_t panels = panels_of(D);
  const int64_t shares = std::clamp<int64_t>(thread_count() / std::max<int64_t>(1, panels), 1, std::max<int64_t>(1, N));
  const int64_t grain = 1 + worth / std::max<int64_t>(1, N / shares * K * packed_panel);
  parallel_blocks(panels * shares, grain, [&](Range parts, int) {
    for (int64_t part = parts.begin; part < parts.end; ++part) {
      const int64_t share = part % shares;
      f(part / shares, Range{N * share / shares, N * (share + 1) / shares});
    }
  });
}

/// y (N,D) = act(x (N,K) · wᵀ + b) from packed weights (Backend::pack), each output one chain of multiply-adds over k.
void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act);

}  // namespace dragoman::cpu
