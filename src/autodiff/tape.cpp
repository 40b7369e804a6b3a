#include "autodiff/tape.h"

#include "backend/backend.h"

namespace dragoman {

namespace {

std::shared_ptr<Node> view_of(const Var& x, int64_t row, int64_t column, bool covers) {
  if (!x.node()) return nullptr;
  return std::make_shared<Node>(Node{{}, false, x.node()->type, x.node(), x.shape(), row, column, covers});
}

}  // namespace

Tensor allocate_activation(Arena& arena, const Shape& shape, DType dtype) {
  if (!is_half(dtype) || shape.rank() != 2 || shape.back() % 8 == 0) return arena.allocate(shape, dtype);
  return arena.allocate({shape[0], (shape.back() + 7) / 8 * 8}, dtype).columns(0, shape.back());
}

Var columns(const Var& x, int64_t from, int64_t count) {
  return Var(x.value().columns(from, count), view_of(x, 0, from, true));
}

Var some_columns(const Var& x, int64_t from, int64_t count) {
  if (from == 0 && count == x.cols()) return x;
  return Var(x.value().columns(from, count), view_of(x, 0, from, false));
}

Var rows(const Var& x, int64_t from, int64_t count) {
  if (from == 0 && count == x.rows()) return x;
  return Var(x.value().row_range(from, count), view_of(x, from, 0, false));
}

// Ensures that the gradient has writable memory. A view's gradient is a part of the whole's gradient, which is cleared
// first if its views add to it.
void Backward::prepare(Node& node, const Shape& shape, DType of_value) {
  Node* whole = node.whole.get();
  if (!whole) {
    if (!node.gradient) node.gradient = allocate_activation(arena_, shape, node.type.value_or(of_value));
    return;
  }
  prepare(*whole, node.whole_shape, of_value);
  node.gradient = whole->gradient.row_range(node.row, shape[0]).columns(node.column, shape.back());
  if (!node.covers && !whole->written) backend.fill(whole->gradient, 0);
  if (!node.covers || !whole->covers) node.written = true;
  whole->written = true;
}

Grad Backward::grad(const Var& x) {
  if (!x.node()) return {};
  Node& node = *x.node();
  prepare(node, x.shape(), x.dtype());
  const Accumulate mode = node.written ? Accumulate::yes : Accumulate::no;
  node.written = true;
  return {node.gradient, mode};
}

void Backward::overwrite(const Var& x, const std::function<void(const Tensor&)>& write) {
  const Grad dx = grad(x);
  if (!dx) return;
  if (!dx.adds()) return write(dx.tensor);
  const Tensor more = temporary(x.shape(), x.dtype());
  write(more);
  backend.add(dx.tensor, more, 1);
}

void Backward::pass(const Var& x) {
  const auto& node = x.node();
  if (!node) return;
  const bool fits = x.gradient_type() == grad_out().dtype();
  if (node->written || node->gradient || node->whole || !fits) {
    const Grad g = grad(x);
    if (g.adds()) return backend.add(g.tensor, grad_out(), 1.0);
    return backend.copy(g.tensor, grad_out());
  }
  node->gradient = grad_out();
  node->written = true;
}

void Tape::record(const char* name, Var output, Function backward) {
  records_.push_back({name, std::move(output), std::move(backward)});
}

void Tape::backward(const Backend& backend, Arena& arena) {
  while (!records_.empty()) {
    const Record record = std::move(records_.back());
    records_.pop_back();
    if (!record.output.node()->written) continue;
    Backward b(backend, arena, record.output);
    record.backward(b);
  }
}

}  // namespace dragoman
