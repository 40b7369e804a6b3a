#include "nn/positions.h"

#include <cmath>

#include "backend/backend.h"

namespace dragoman {

namespace {

double frequency(const SinusoidDesign& d, int64_t i) {
  if (!d.tensor2tensor) return std::pow(10000.0, -2.0 * double(i) / double(d.dim));
  return std::pow(10000.0, -double(i) / std::max(1.0, double(d.dim) / 2 - 1));
}

}  // namespace

const Tensor& Sinusoids::table(Arena& arena, const Backend& backend, int64_t positions) {
  const std::lock_guard lock(mutex_);
  if (!tables_.empty() && tables_.back().rows() >= positions) return tables_.back();
  const int64_t rows = std::max<int64_t>(128, positions + positions / 2), dim = design_.dim, half = (dim + 1) / 2;
  std::vector<double> values(rows * dim);
  for (int64_t i = 0; i < half; ++i) {
    const double f = frequency(design_, i);
    const bool halves = design_.order == SinusoidOrder::halves;
    const int64_t sine = halves ? i : 2 * i, cosine = halves ? half + i : 2 * i + 1;
    for (int64_t p = 0; p < rows; ++p) {
      const double angle = double(p + design_.first) * f;
      values[p * dim + sine] = std::sin(angle);
      if (cosine < dim) values[p * dim + cosine] = std::cos(angle);
    }
  }
  const Tensor table = arena.allocate({rows, dim}, dtype_);
  backend.copy(table, Tensor::borrow(values.data(), {rows, dim}));
  return tables_.emplace_back(table);
}

const Tensor& LinearBias::table(Arena& arena, const Backend& backend, int64_t positions) {
  const std::lock_guard lock(mutex_);
  if (!tables_.empty() && DistanceBias::reach(tables_.back(), heads_) >= positions - 1) return tables_.back();
  const int64_t R = std::max<int64_t>(511, positions + positions / 2);
  std::vector<double> values;
  for (int h = 1; h <= heads_; ++h)
    for (int64_t distance = -R; distance <= R; ++distance)
      values.push_back(-std::pow(2.0, -8.0 * h / heads_) * double(std::abs(distance)) / scale_);
  const Tensor table = arena.allocate({1, int64_t(values.size())}, dtype_);
  backend.copy(table, Tensor::borrow(values.data(), table.shape()));
  return tables_.emplace_back(table);
}

// In f32, as T5 does, so that distances at a limit are in the same bucket.
std::vector<int32_t> distance_buckets(const BucketDesign& d) {
  const int count = d.per_direction(), single = count / 2;
  const auto bucket = [&](int distance) {
    if (distance < single) return distance;
    const float ratio = std::log(float(distance) / float(single)) / float(std::log(double(d.longest) / single));
    return std::min(single + int(ratio * float(count - single)), count - 1);
  };
  std::vector<int32_t> buckets;
  for (int distance = -d.longest; distance <= d.longest; ++distance) {
    const int of_distance = bucket(std::abs(distance));
    const int later = d.causal ? 0 : count + of_distance;  // causal: never read
    buckets.push_back(distance > 0 ? later : of_distance);
  }
  return buckets;
}

}  // namespace dragoman
