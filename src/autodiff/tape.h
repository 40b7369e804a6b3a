#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "backend/kernel.h"
#include "tensor/arena.h"

namespace dragoman {

struct Backend;

/// Where the gradient of a value gathers while the tape runs back.
struct Node {
  Tensor gradient;              // allocated when the first record writes it; a parameter's from the beginning
  bool written = false;         // whether `gradient` holds anything: the first writer overwrites, later ones add
  std::shared_ptr<Node> whole;  // of a view: the node of what it looks into …
  Shape whole_shape = {};       // … and how large that is,
  int64_t row = 0, column = 0;  // … and where the view begins
  bool covers = true;           // whether the views of the whole, together, write all of its gradient
};

/// A value and, where a gradient of it is wanted, its node. Owns its memory by count, so it may be captured freely.
class Var {
 public:
  Var() = default;
  explicit Var(Tensor value, std::shared_ptr<Node> node = nullptr) : value_(std::move(value)), node_(std::move(node)) {}

  operator const Tensor&() const { return value_; }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  DType dtype() const { return value_.dtype(); }
  int64_t rows() const { return value_.rows(); }
  int64_t cols() const { return value_.cols(); }
  explicit operator bool() const { return bool(value_); }
  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  Tensor value_;
  std::shared_ptr<Node> node_;
};

/// Columns [from, from + count) of x (N,D) as a value of its own. The views of a matrix must, together, cover it: each
/// writes its part of the gradient, and nothing else does.
Var columns(const Var& x, int64_t from, int64_t count);

/// Rows [from, from + count) of x (N,D) as a value of its own. Views may overlap and leave rows out, so the gradient of
/// the whole is cleared before the first of them adds to it.
Var rows(const Var& x, int64_t from, int64_t count);

/// What a recorded backward function sees.
class Backward {
 public:
  Backward(const Backend& backend, Arena& arena, const Var& output)
      : backend(backend), arena_(arena), output_(output) {}

  const Tensor& grad_out() const { return output_.node()->gradient; }
  /// The gradient of x to be written, once: says whether to overwrite or add. Empty when x wants none.
  Grad grad(const Var& x);
  /// What has gathered for another output of the record than the one it was recorded with; empty: nothing.
  Tensor grad_of(const Var& output) const {
    return output.node() && output.node()->written ? output.node()->gradient : Tensor();
  }
  /// Adds grad_out to the gradient of x, or hands its memory over when x has none yet: call it last.
  void pass(const Var& x);
  Tensor scratch(int64_t bytes) { return arena_.allocate({bytes}, DType::u8); }
  Tensor temporary(Shape shape, DType dtype) { return arena_.allocate(shape, dtype); }

  const Backend& backend;

 private:
  void prepare(Node& node, const Shape& shape, DType dtype);

  Arena& arena_;
  const Var& output_;
};

/// What was computed, in order, with how to go back. Program order is the graph.
class Tape {
 public:
  using Function = std::function<void(Backward&)>;

  void record(const char* name, Var output, Function backward);
  /// Runs all records from the last to the first and drops each after its turn, with what it had saved. Records whose
  /// output received no gradient are skipped.
  void backward(const Backend& backend, Arena& arena);
  size_t size() const { return records_.size(); }
  /// Calls f(name, output) for every record, in order.
  template <class F>
  void each_output(const F& f) const {
    for (const Record& r : records_) f(r.name, r.output.value());
  }

 private:
  struct Record {
    const char* name;
    Var output;
    Function backward;
  };
  std::vector<Record> records_;
};

}  // namespace dragoman
