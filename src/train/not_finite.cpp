#include "train/not_finite.h"

#include <cmath>
#include <ranges>

namespace dragoman {
namespace {

// A sum of squares in f64 cannot overflow in f32, so it is finite where all values are.
bool finite(const Backend& backend, const Tensor& x) { return std::isfinite(backend.sum_of_squares(std::span(&x, 1))); }

}  // namespace

std::string first_bad_weight(const Backend& backend, const Parameters& parameters) {
  for (const auto& p : parameters.named())
    if (!finite(backend, p.value)) return "weight " + p.name;
  return "";
}

std::optional<BadOutput> first_bad_output(const Backend& backend, const Tape& tape) {
  size_t record = 0;
  std::optional<BadOutput> bad;
  tape.each_output([&](const char* name, const Tensor& output) {
    if (!bad && !finite(backend, output))
      bad = {record, fmt::format("output {} of op {}, {}", output.shape(), record + 1, name)};
    ++record;
  });
  return bad;
}

std::string first_bad_gradient(const Backend& backend, const Parameters& parameters) {
  for (const auto& p : parameters.named() | std::views::reverse)
    if (p.trained && !finite(backend, p.gradient)) return "gradient of " + p.name;
  return "";
}

}  // namespace dragoman
