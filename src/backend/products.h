#pragma once
#include <span>

#include "backend/kernel.h"
#include "backend/work.h"
#include "tensor/activation.h"

namespace dragoman {

/// A matrix in 8 bits, or some rows of one: row d is scales[d] · q[d].
struct RoundedRows {
  Tensor q;       // (D,K) int8, -127…127
  Tensor scales;  // (D) f32
};

/// Slots of the kernel table (backend/backend.h): matrix products for training and decoding.
struct ProductKernels {
  // Products.  x (N,K)  w (D,K)  b (D) or empty  y, dy (N,D). Factors may be bf16 (or f16, except on a CPU), both of
  // the same type; sums are then f32, the results y and dx f32 or of the type of the factors, and b of y's type.
  // Backward through act (none or relu), in a pass over dy, needed if there is an act or if dz has another type than
  // dy: dz (N,D) = dy ⊙ act'(y), in dy's memory or in the type of the factors;  db (D) = or += Σ_n dz, summed before dz
  // is rounded. y and dy are f32 or of the type of the factors. Without act, y is not read.
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act)> linear{"linear",
                                                                                                          work::linear};
  Kernel<void(Grad dx, const Tensor& dz, const Tensor& w)> linear_backward_input{"linear_backward_input",
                                                                                 work::linear_backward_input};
  Kernel<void(const Tensor& dz, Grad db, const Tensor& dy, const Tensor& y, Activation act)> linear_backward_result{
      "linear_backward_result"};
  // dw (D,K) = or += dzᵀ · x,  db (D) = or += Σ_n dz, where no pass over dy has summed it. Empty: either; x without dw.
  Kernel<void(Grad dw, Grad db, const Tensor& dz, const Tensor& x)> linear_backward_weight{
      "linear_backward_weight", work::linear_backward_weight};

  // Products for decoding: w is rearranged once, into the type of `packed`. A row's result does not depend on its
  // neighbours, its position or the number of threads.
  //   In w's own type: each output is one chain of fused multiply-adds over k, in order.
  //   BF16: w is rounded, so half as many bytes are read; x, products and sums stay f32.
  //   I8: rows of w and of x are rounded, each to its own scale (max |·| / 127) times integers -127…127; products and
  //   sums of these are exact, then y = act((Σ · scale of x) · scale of w + b).
  Kernel<int64_t(int64_t D, int64_t K, DType packed)> packed_elements{"packed_elements"};
  Kernel<void(const Tensor& packed, const Tensor& w)> pack{"pack"};
  //   pack_rounded: into I8 from rows already rounded, several slices concatenated. If the largest integer of each row
  //   is ±127, or all are 0 with a scale of 0, the result equals `pack` of scales · q.
  Kernel<void(const Tensor& packed, std::span<const RoundedRows> parts)> pack_rounded{"pack_rounded"};
  //   select_packed: some rows of w (D,K), packed as if they were the whole matrix. rows (R) int32, in ascending order.
  Kernel<void(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K)> select_packed{
      "select_packed"};
  Kernel<int64_t(int64_t N, int64_t K, DType packed)> linear_packed_scratch{"linear_packed_scratch"};
  Kernel<void(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
              const Tensor& scratch)>
      linear_packed{"linear_packed", work::linear_packed};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.linear, k.linear_backward_input, k.linear_backward_result, k.linear_backward_weight, k.packed_elements,
          k.pack, k.pack_rounded, k.select_packed, k.linear_packed_scratch, k.linear_packed);
  }
};

}  // namespace dragoman
