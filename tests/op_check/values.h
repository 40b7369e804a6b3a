#pragma once
#include <string>
#include <vector>

#include "autodiff/context.h"
#include "backend/registry.h"
#include "tensor/spans.h"
#include "tests/error_of.h"
#include "tests/threads.h"

namespace dragoman {

/// Standard normal numbers, rounded to f32 so that every element type holds them exactly.
std::vector<double> normals(int64_t count, uint64_t stream);

Tensor tensor_of(Arena& arena, Shape shape, const std::vector<double>& values, DType dtype = DType::f64);
std::vector<double> values_of(const Tensor& x);
double sum_of(const Tensor& x);

/// Positions (N,2) of packed sentences, which key random masks and position embeddings: sentence, token.
Tensor positions_of(const Spans& spans);

/// A context on the reference backend in f64, for numbers worked by hand, or on another.
struct ByHand {
  explicit ByHand(const std::string& name = "reference", DType dtype = DType::f64);
  ByHand(const Backend& backend, DType dtype, int64_t capacity = int64_t{1} << 28);  // bytes

  Var constant(Shape shape, const std::vector<double>& values);  // takes no gradient
  Var var(Shape shape, const std::vector<double>& values);
  Var random(Shape shape, uint64_t stream = 0);  // a var of standard normal numbers
  Tensor empty(Shape shape) { return arena.allocate(shape, dtype); }
  /// Walks back from y with gradient dy.
  void backward(const Var& y, const std::vector<double>& dy);

  DType dtype;
  Arena arena;
  Tape tape;
  Context cx;
};

}  // namespace dragoman
