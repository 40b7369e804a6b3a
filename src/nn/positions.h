#pragma once
#include <deque>
#include <mutex>

#include "autodiff/context.h"

namespace dragoman {

/// Sinusoids of Vaswani et al. 2017, section 3.5: row p holds sin(p·f_i) and cos(p·f_i), f_i = 10000^(-2i/D).
/// halves: all sines, then all cosines, as in Hugging Face's Marian class; Marian and tensor2tensor have this order and
/// f_i = 10000^(-i/(D/2 - 1)). interleaved: in turn, as the paper writes them.
enum class SinusoidOrder { halves, interleaved };

/// The table (rows ≥ `positions`, D); a longer one is made when a longer sentence comes. Several threads may ask.
class Sinusoids {
 public:
  Sinusoids(int64_t dim, SinusoidOrder order, DType dtype) : dim_(dim), order_(order), dtype_(dtype) {}
  const Tensor& table(Arena& arena, const Backend& backend, int64_t positions);

 private:
  const int64_t dim_;
  const SinusoidOrder order_;
  const DType dtype_;
  std::mutex asking_;
  std::deque<Tensor> tables_;  // the longest is the last; others may be in use
};

/// ALiBi (Press et al. 2022): head h of H lowers a score by 2^(-8h/H), h from 1, for every position between query and
/// key, in both directions. The table is a bias of attention (1,H·(2R+1)) with R ≥ `positions` - 1; a longer one is
/// made when a longer sentence comes. `scale` is what attention multiplies scores and bias with. Several threads may
/// ask.
class LinearBias {
 public:
  LinearBias(int heads, double scale, DType dtype) : heads_(heads), scale_(scale), dtype_(dtype) {}
  const Tensor& table(Arena& arena, const Backend& backend, int64_t positions);

 private:
  const int heads_;
  const double scale_;
  const DType dtype_;
  std::mutex asking_;
  std::deque<Tensor> tables_;
};

}  // namespace dragoman
