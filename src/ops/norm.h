#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// y = (x - mean) / √(variance + eps) · gamma + beta over the columns of each row (Ba et al. 2016, eq. 3).
/// Without beta it is RMSNorm (Zhang & Sennrich 2019, eq. 4): y = x / √(mean(x²) + eps) · gamma.
/// x, y (N,D)  gamma, beta (D).  The tape keeps x and two numbers per row. Here and in residual_norm, y is 16-bit if
/// activations are (RoundedWeights); its gradient, to which several readers add, has the type of gamma.
Var layer_norm(Context& cx, const Var& x, const Var& gamma, const Var& beta, double eps = 1e-5);

/// layer_norm of each head separately, over its K columns, with one gamma and beta for all heads (query-key
/// normalisation: Dehghani et al. 2023, "Scaling Vision Transformers to 22 Billion Parameters", section 2).
/// x, y (N,H*K)  gamma, beta (K); beta may be empty.
Var head_norm(Context& cx, const Var& x, const Var& gamma, const Var& beta, int heads, double eps = 1e-5);

/// y = layer_norm(x + dropout(r)): the sublayer connection of Vaswani et al. 2017, section 3.1, in one pass.
/// x, r, y (N,D).  The tape keeps the sum.
Var residual_norm(Context& cx, const Var& x, const Var& r, const Var& gamma, const Var& beta, const Dropout& drop,
                  double eps = 1e-5);

/// How far running statistics move towards those of a batch.
constexpr double batch_norm_momentum = 0.1;

/// Running statistics of a batch norm over training: exponential moving averages, each (D).
struct RunningStatistics {
  Tensor mean, variance;

  explicit operator bool() const { return bool(mean); }
};

/// y = (x - mean) / √(variance + eps) · gamma + beta, per column (Ioffe & Szegedy 2015, algorithms 1 and 2).
/// In training (Context::training), mean and variance are those of the rows of x, and `running` moves
/// batch_norm_momentum of the way towards them; its variance is the unbiased one, N / (N - 1) times the one that
/// normalises. Otherwise mean and variance are `running`. x, y (N,D)  gamma, beta (D).  The tape keeps x and two
/// numbers per column.
Var batch_norm(Context& cx, const Var& x, const Var& gamma, const Var& beta, const RunningStatistics& running,
               double eps = 1e-5);

}  // namespace dragoman
