#include "train/not_finite.h"

#include <cmath>
#include <ranges>

#include "backend/backend.h"

namespace dragoman {
namespace {

// The f64 sum of squares of f32 values cannot overflow, so it is finite if all values are finite.
bool finite(const Backend& backend, Arena& arena, const Tensor& x) {
  const Tensor squares = arena.allocate({1}, DType::f64);
  const Tensor values = is_half(x.dtype()) ? arena.allocate(x.shape(), DType::f32) : x;
  if (is_half(x.dtype())) backend.copy(values, x);
  backend.sum_of_squares(squares, std::span(&values, 1));
  return std::isfinite(squares.send()());
}

}  // namespace

std::string first_bad_weight(const Backend& backend, Arena& arena, const Parameters& parameters) {
  for (const auto& p : parameters.named())
    if (!finite(backend, arena, p.value)) return "weight " + p.name;
  return "";
}

std::optional<BadOutput> first_bad_output(const Backend& backend, Arena& arena, const Tape& tape) {
  size_t record = 0;
  std::optional<BadOutput> bad;
  tape.each_output([&](const char* name, const Tensor& output) {
    if (!bad && !finite(backend, arena, output))
      bad = {record, fmt::format("output {} of op {}, {}", output.shape(), record + 1, name)};
    ++record;
  });
  return bad;
}

std::string first_bad_gradient(const Backend& backend, Arena& arena, const Parameters& parameters) {
  for (const auto& p : parameters.named() | std::views::reverse)
    if (p.has_gradient() && !finite(backend, arena, p.gradient)) return "gradient of " + p.name;
  return "";
}

}  // namespace dragoman
