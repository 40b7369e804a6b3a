#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// Sinusoids of Vaswani et al. 2017, section 3.5: row p holds sin(p·f_i) and cos(p·f_i), f_i = 10000^(-2i/D).
/// halves: all sines, then all cosines, the order of columns in tensor2tensor and Marian (whose f_i end at D/2 - 1);
/// interleaved: in turn, as the paper writes them.
enum class SinusoidOrder { halves, interleaved };

/// The table (rows ≥ `positions`, D), made longer when a longer sentence comes.
class Sinusoids {
 public:
  Sinusoids(int64_t dim, SinusoidOrder order, DType dtype) : dim_(dim), order_(order), dtype_(dtype) {}
  const Tensor& table(Arena& arena, const Backend& backend, int64_t positions);

 private:
  const int64_t dim_;
  const SinusoidOrder order_;
  const DType dtype_;
  Tensor table_;
};

}  // namespace dragoman
