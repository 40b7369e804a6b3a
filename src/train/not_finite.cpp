#include "train/not_finite.h"

#include <cmath>
#include <ranges>

namespace dragoman {
namespace {

// A sum of squares in f64 cannot overflow in f32, so it is finite where all values are.
bool finite(const Backend& backend, const Tensor& x) { return std::isfinite(backend.sum_of_squares(x)); }

}  // namespace

std::string first_bad_weight(const Backend& backend, const Parameters& parameters) {
  for (const auto& p : parameters.named())
    if (!finite(backend, p.value)) return "weight " + p.name;
  return "";
}

std::string first_bad_output(const Backend& backend, const Tape& tape) {
  int64_t op = 0;
  std::string bad;
  tape.each_output([&](const char* name, const Tensor& output) {
    ++op;
    if (bad.empty() && !finite(backend, output)) bad = fmt::format("output {} of op {}, {}", output.shape(), op, name);
  });
  return bad;
}

std::string first_bad_gradient(const Backend& backend, const Parameters& parameters) {
  for (const auto& p : parameters.named() | std::views::reverse)
    if (!finite(backend, p.gradient)) return "gradient of " + p.name;
  return "";
}

}  // namespace dragoman
