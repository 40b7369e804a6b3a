#pragma once
#include <gmock/gmock.h>

#include "backend/registry.h"
#include "nn/parameters.h"
#include "optim/adam.h"

namespace dragoman {

/// Two parameters in buffers of their own, "a" (2) and "b" (1), on the reference backend in f64.
struct ToyParameters {
  const Backend& backend = dragoman::backend("reference");
  Arena arena{Arena::Reserve::memory, int64_t{1} << 20};
  Parameters parameters{backend, arena, DType::f64, Parameters::Flat{3 * Parameters::flat_block}};
  Var a = parameters.vector({{"a", 2, Init::zeros()}});
  Var b = parameters.vector({{"b", 1, Init::zeros()}});

  ToyParameters() { set({0, 0, 0}); }

  void set(const std::vector<double>& values) { fill(a, b, values); }
  void gradients(const std::vector<double>& values) {
    fill(a.node()->gradient, b.node()->gradient, values);
    a.node()->written = b.node()->written = true;
  }
  std::vector<double> values() const { return joined(a, b); }

  /// One update, whose loss is finite unless said otherwise. Returns the norm of the mean gradient before clipping.
  double step(Adam& adam, double rate, double target_tokens, double loss = 1) {
    const Tensor total = arena.allocate({1}, DType::f64);
    *total.as<double>() = loss;
    adam.step(rate, target_tokens, total);
    return adam.outcome().norm;
  }

  static std::vector<double> joined(const Tensor& a, const Tensor& b) {
    return {a.as<double>()[0], a.as<double>()[1], b.as<double>()[0]};
  }
  /// Of a flat buffer.
  std::vector<double> joined(const Tensor& flat) const {
    return joined(parameters.part_of(flat, size_t{0}), parameters.part_of(flat, size_t{1}));
  }

 private:
  static void fill(const Tensor& a, const Tensor& b, const std::vector<double>& values) {
    a.as<double>()[0] = values[0], a.as<double>()[1] = values[1], b.as<double>()[0] = values[2];
  }
};

inline auto near(std::vector<double> values) { return testing::Pointwise(testing::DoubleNear(1e-8), values); }

}  // namespace dragoman
