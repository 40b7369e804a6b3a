#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backend/kernel.h"
#include "tensor/arena.h"

namespace dragoman {

struct Backend;

/// Accumulates the gradient of a value while the tape runs backward.
struct Node {
  Tensor gradient;              // allocated on first write; for a parameter, from the beginning
  bool written = false;         // whether `gradient` has a value: the first writer overwrites, later ones add
  std::optional<DType> type;    // of `gradient`; none: that of the value
  std::shared_ptr<Node> whole;  // for a view: the node of the viewed value …
  Shape whole_shape = {};       // … its shape …
  int64_t row = 0, column = 0;  // … and where the view begins in it
  bool covers = true;           // whether all views of the whole together write its entire gradient
};

/// A value and, if its gradient is wanted, its node. Memory is reference-counted, so a Var may be captured freely.
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
  DType gradient_type() const { return node_ && node_->type ? *node_->type : dtype(); }

 private:
  Tensor value_;
  std::shared_ptr<Node> node_;
};

/// Memory of an activation (N,D): rows of 16-bit numbers begin at multiples of 16 bytes, as the fast kernels of matrix
/// libraries require.
Tensor allocate_activation(Arena& arena, const Shape& shape, DType dtype);

/// Columns [from, from + count) of x (N,D) as a value of its own. All such views of a matrix must together cover it:
/// each writes its columns of the gradient, and nothing else writes it.
Var columns(const Var& x, int64_t from, int64_t count);

/// The same beside other readers of x: views may overlap and omit columns, and x itself may be read. The whole gradient
/// is cleared before the first view adds to it.
Var some_columns(const Var& x, int64_t from, int64_t count);

/// Rows [from, from + count) of x (N,D) as a value of its own. Views may overlap and omit rows: the whole gradient is
/// cleared before the first view adds to it.
Var rows(const Var& x, int64_t from, int64_t count);

/// The gradients that a recorded backward function reads and writes.
class Backward {
 public:
  Backward(const Backend& backend, Arena& arena, const Var& output)
      : backend(backend), arena_(arena), output_(output) {}

  const Tensor& grad_out() const { return output_.node()->gradient; }
  /// The gradient of x to write, and whether to overwrite or add. Call it once per input. Empty if x needs no gradient.
  Grad grad(const Var& x);
  /// The gradient of another output of the same record; empty if none was written.
  Tensor grad_of(const Var& output) const {
    return output.node() && output.node()->written ? output.node()->gradient : Tensor();
  }
  /// The same for kernels that can only overwrite: `write` gets the gradient of x, or memory whose values are then
  /// added to it. Not called if x needs no gradient.
  void overwrite(const Var& x, const std::function<void(const Tensor&)>& write);
  /// Adds grad_out to the gradient of x, or transfers its memory if x has no gradient yet. Call it last.
  void pass(const Var& x);
  Tensor scratch(int64_t bytes) { return arena_.allocate({std::max<int64_t>(bytes, 1)}, DType::u8); }
  Tensor temporary(Shape shape, DType dtype) { return allocate_activation(arena_, shape, dtype); }

  const Backend& backend;

 private:
  void prepare(Node& node, const Shape& shape, DType of_value);

  Arena& arena_;
  const Var& output_;
};

/// Recorded operations in program order, each with its backward function.
class Tape {
 public:
  using Function = std::function<void(Backward&)>;

  void record(const char* name, Var output, Function backward);
  /// Runs all records from last to first and destroys each one, with its saved tensors, once it has run. Skips records
  /// whose output received no gradient.
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
