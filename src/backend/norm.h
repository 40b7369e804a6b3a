#pragma once
#include "backend/dropout.h"
#include "backend/kernel.h"

namespace dragoman {

/// Slots of the kernel table (backend/backend.h): layer and batch normalisation.
struct NormKernels {
  // Layer normalisation over columns.  y, x, sum (N,D)  mean, rstd (N) stat type  gamma, beta (D). Without beta it is
  // RMS normalisation: nothing is subtracted, and mean is 0.  x, y, r and the gradients dx, dr, dy also in 16 bits, but
  // not the sum of residual_norm: mean and rstd are those of its exact values.
  Kernel<void(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
              const Tensor& beta, double eps)>
      layer_norm{"layer_norm"};
  // sum = x + dropout(r), y = norm(sum).
  struct ResidualNorm {
    Tensor y, sum, mean, rstd;  // (N,D)  (N,D)  (N)  (N) stat type
    Tensor x, r, gamma, beta;   // (N,D)  (N,D)  (D)  (D) or empty
    Dropout dropout;
    double eps;
  };
  Kernel<void(const ResidualNorm& a)> residual_norm{"residual_norm"};
  // Backward of both: dx of the sum, dr (empty for plain layer_norm) through the mask.
  struct NormBackward {
    Grad dx, dr, dgamma, dbeta;         // (N,D)  (N,D)  (D)  (D)
    Tensor dy, sum, mean, rstd, gamma;  // (N,D)  (N,D)  (N)  (N)  (D)
    Dropout dropout;
    Tensor scratch;       // norm_scratch bytes
    bool centred = true;  // whether there was a beta
  };
  Kernel<int64_t(int64_t D)> norm_scratch{"norm_scratch"};
  Kernel<void(const NormBackward& b)> norm_backward{"norm_backward"};

  // Batch normalisation, column by column (Ioffe & Szegedy 2015, algorithm 1): y = (x - mean) · rstd · gamma + beta,
  // with rstd = 1 / √(variance + eps).
  struct BatchNorm {
    Tensor y, mean, rstd;                   // (N,D)  (D) stat type
    Tensor running_mean, running_variance;  // (D)
    Tensor x, gamma, beta;                  // (N,D)  (D)
    double eps;
    // Above 0, statistics are those of the rows of x, and the running ones move towards them by this fraction (towards
    // the unbiased variance; not with fewer than two rows or non-finite values). 0: the running statistics are used.
    double momentum;
  };
  Kernel<void(const BatchNorm& a)> batch_norm{"batch_norm"};
  struct BatchNormBackward {
    Grad dx, dgamma, dbeta;           // (N,D)  (D)  (D)
    Tensor dy, x, mean, rstd, gamma;  // (N,D)  (N,D)  (D)  (D)  (D)
    bool of_rows;                     // whether mean and rstd are those of the rows of x
    Tensor sums;                      // (2,D) room for Σ dy · (x - mean) · rstd and Σ dy
  };
  Kernel<void(const BatchNormBackward& b)> batch_norm_backward{"batch_norm_backward"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.layer_norm, k.residual_norm, k.norm_scratch, k.norm_backward, k.batch_norm, k.batch_norm_backward);
  }
};

}  // namespace dragoman
