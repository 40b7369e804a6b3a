#include "io/int8_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads.h"
#include "io/finite.h"

namespace dragoman {
namespace {

constexpr int largest = 127;

// A row's weights are scale · nearest(weight · inverse).
struct Rounding {
  float scale = 0, inverse = 0;
};

bool restorable(float scale) { return scale >= 0 && std::isfinite(largest * scale); }

// Exactly as in the kernels. A row so small that its inverse is not finite counts as zeros.
Rounding rounding_of(std::span<const float> row, const std::string& where) {
  const float top = require_finite(row, where);
  const Rounding r{top / largest, largest / top};
  require(restorable(r.scale), "{} holds {}, too large to be stored in 8 bits", where, top);
  return std::isfinite(r.inverse) ? r : Rounding{};
}

// Ties to even, for |x| < 2^22: the sum has no bits left for a fraction. Vectorises where std::nearbyint does not.
float nearest(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

std::span<const float> row_of(const View<float>& w, int64_t d) { return {w.row(d), size_t(w.cols)}; }

// (D) f32, aligned, unlike those of a file.
Tensor scales_of(const TensorEntry& q, const SafetensorsFile& file) {
  const TensorEntry* stored = file.find(scale_name(q.name));
  require(stored != nullptr, "{}: {} is of type {}, but its scales {} are missing", file.path(), q.name, q.dtype,
          scale_name(q.name));
  const int64_t rows = q.shape[0];
  require(stored->dtype == DType::f32 && stored->shape == std::vector{rows},
          "{}: {} is ({}) of {}, expected ({}) of {}", file.path(), stored->name, fmt::join(stored->shape, ","),
          stored->dtype, rows, DType::f32);
  const auto scales = std::make_shared<std::vector<float>>(values_of<float>(*stored));
  for (size_t d = 0; d < scales->size(); ++d)
    require(restorable((*scales)[d]), "{}: {} holds {} for row {}, expected 0 to 2.6e36", file.path(), stored->name,
            (*scales)[d], d);
  return Tensor(scales, scales->data(), {rows}, DType::f32);
}

}  // namespace

bool stored_in_int8(const std::string& name, const Tensor& w) {
  return w.shape().rank() == 2 && !name.ends_with(".positions.weight") && !name.ends_with(".router.weight");
}

std::string scale_name(const std::string& weight) { return weight + "_scale"; }

void round_rows(const Tensor& q, const Tensor& scales, const Tensor& w, const std::string& where) {
  const auto W = w.view<float>();
  const auto Q = q.view<int8_t>();
  parallel_blocks(W.rows, 64, [&](Range rows, int) {
    for (int64_t d = rows.begin; d < rows.end; ++d) {
      const Rounding r = rounding_of(row_of(W, d), where);
      scales.as<float>()[d] = r.scale;
      for (int64_t k = 0; k < W.cols; ++k) Q(d, k) = int8_t(nearest(W(d, k) * r.inverse));
    }
  });
}

void round_in_place(const Tensor& w, const std::string& where) {
  const auto W = w.view<float>();
  parallel_blocks(W.rows, 64, [&](Range rows, int) {
    for (int64_t d = rows.begin; d < rows.end; ++d) {
      const Rounding r = rounding_of(row_of(W, d), where);
      for (int64_t k = 0; k < W.cols; ++k) W(d, k) = nearest(W(d, k) * r.inverse) * r.scale;
    }
  });
}

RoundedRows rounded_rows(const TensorEntry& q, const SafetensorsFile& file) {
  require(q.shape.size() == 2, "{}: {} is of type {}, expected {}: only matrices are stored in 8 bits", file.path(),
          q.name, q.dtype, DType::f32);
  const Tensor scales = scales_of(q, file);
  require(std::memchr(q.bytes.data(), uint8_t(-128), q.bytes.size()) == nullptr,
          "{}: {} holds -128, expected -127 to 127", file.path(), q.name);
  return {Tensor::borrow(reinterpret_cast<const int8_t*>(q.bytes.data()), {q.shape[0], q.shape[1]}), scales};
}

void restore_rows(const Tensor& w, const TensorEntry& entry, const SafetensorsFile& file) {
  const auto [q, scales] = rounded_rows(entry, file);
  const auto Q = q.view<const int8_t>();
  const auto* scale = scales.as<float>();
  for_dtype(w.dtype(), [&]<class T>() {
    const auto W = w.view<T>();
    parallel_blocks(W.rows, 64, [&](Range rows, int) {
      for (int64_t d = rows.begin; d < rows.end; ++d)
        for (int64_t k = 0; k < W.cols; ++k) W(d, k) = T(float(Q(d, k)) * scale[d]);
    });
  });
}

std::vector<NamedTensor> in_int8(const std::vector<NamedTensor>& weights, Arena& arena, const std::string& path) {
  std::vector<NamedTensor> stored;
  for (const auto& [name, w] : weights) {
    const std::string where = path + ": " + name;
    if (!stored_in_int8(name, w)) {
      require_finite(w, where);
      stored.push_back({name, w});
      continue;
    }
    const Tensor q = arena.allocate(w.shape(), DType::i8), scales = arena.allocate({w.shape()[0]}, DType::f32);
    round_rows(q, scales, w, where);
    stored.push_back({name, q});
    stored.push_back({scale_name(name), scales});
  }
  return stored;
}

}  // namespace dragoman
