#pragma once
#include <deque>
#include <mutex>
#include <vector>

#include "autodiff/context.h"

namespace dragoman {

/// halves: all sines, then all cosines, as in most programs; interleaved: sines and cosines alternate, as in the paper.
enum class SinusoidOrder { halves, interleaved };

/// Sinusoids of Vaswani et al. 2017, section 3.5: row p holds sin((p + first)·f_i) and cos((p + first)·f_i). In the
/// paper f_i = 10000^(-2i/D); with `tensor2tensor` spacing it is 10000^(-i/(D/2 - 1)).
struct SinusoidDesign {
  int64_t dim;  // D
  SinusoidOrder order = SinusoidOrder::halves;
  bool tensor2tensor = false;
  int64_t first = 0;
};

/// The table (rows ≥ `positions`, D); a longer one replaces it when a sentence needs it. Thread-safe.
class Sinusoids {
 public:
  Sinusoids(const SinusoidDesign& design, DType dtype) : design_(design), dtype_(dtype) {}
  const Tensor& table(Arena& arena, const Backend& backend, int64_t positions);

 private:
  const SinusoidDesign design_;
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

/// The biases of T5 (Raffel et al. 2020, section 2.1): each head has a learned number for each of `buckets` ranges of
/// distances, which all layers share. The first half of the buckets of a direction are single distances, the others
/// grow exponentially, and the last has all distances from `longest` on.
struct BucketDesign {
  int buckets, longest;
  bool causal;  // keys follow no query, and one direction has all buckets
  int per_direction() const { return causal ? buckets : buckets / 2; }
};

/// The buckets of the distances -longest … longest of a key from its query.
std::vector<int32_t> distance_buckets(const BucketDesign& design);

}  // namespace dragoman
