#pragma once
#include <deque>
#include <mutex>

#include "autodiff/context.h"

namespace dragoman {

/// Sinusoids of Vaswani et al. 2017, section 3.5: row p holds sin(p·f_i) and cos(p·f_i), f_i = 10000^(-2i/D).
/// halves: all sines, then all cosines, as in Hugging Face's Marian class; Marian and tensor2tensor have this order and
/// f_i = 10000^(-i/(D/2 - 1)). interleaved: sines and cosines alternate, as in the paper.
enum class SinusoidOrder { halves, interleaved };

/// The table (rows ≥ `positions`, D), which is replaced by a longer one when a sentence needs it. Thread-safe.
class Sinusoids {
 public:
  Sinusoids(int64_t dim, SinusoidOrder order, DType dtype) : dim_(dim), order_(order), dtype_(dtype) {}
  const Tensor& table(Arena& arena, const Backend& backend, int64_t positions);

 private:
  const int64_t dim_;
  const SinusoidOrder order_;
  const DType dtype_;
  std::mutex mutex_;
  std::deque<Tensor> tables_;  // the last is the longest; others may still be in use
};

/// ALiBi (Press et al. 2022): head h of H lowers a score by 2^(-8h/H), h from 1, for every position between query and
/// key, in both directions. The table is a bias of attention (1,H·(2R+1)) with R ≥ `positions` - 1, which is replaced
/// by a longer one when a sentence needs it. `scale` is the factor by which attention multiplies scores and bias.
/// Thread-safe.
class LinearBias {
 public:
  LinearBias(int heads, double scale, DType dtype) : heads_(heads), scale_(scale), dtype_(dtype) {}
  const Tensor& table(Arena& arena, const Backend& backend, int64_t positions);

 private:
  const int heads_;
  const double scale_;
  const DType dtype_;
  std::mutex mutex_;
  std::deque<Tensor> tables_;
};

}  // namespace dragoman
