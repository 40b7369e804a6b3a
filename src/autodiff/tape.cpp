#include "autodiff/tape.h"

namespace dragoman {

Var columns(const Var& x, int64_t from, int64_t count) {
  std::shared_ptr<Node> node;
  if (x.node()) {
    const bool part = bool(x.node()->whole);
    node = std::make_shared<Node>();
    node->whole = part ? x.node()->whole : x.node();
    node->from = part ? x.node()->from + from : from;
  }
  return Var(x.value().columns(from, count), std::move(node));
}

Grad Backward::grad(const Var& x) {
  const auto& node = x.node();
  if (!node) return {};
  if (!node->gradient) {
    if (Node* whole = node->whole.get()) {
      if (!whole->gradient) whole->gradient = arena_.allocate({x.rows(), x.value().stride()}, x.dtype());
      node->gradient = whole->gradient.columns(node->from, x.cols());
    } else {
      node->gradient = arena_.allocate(x.shape(), x.dtype());
    }
  }
  if (node->whole) node->whole->written = true;
  const Accumulate mode = node->written ? Accumulate::yes : Accumulate::no;
  node->written = true;
  return {node->gradient, mode};
}

void Backward::pass(const Var& x) {
  const auto& node = x.node();
  if (!node) return;
  if (node->written || node->gradient || node->whole) {
    const Grad g = grad(x);
    if (g.adds()) return backend.add(g.tensor, grad_out(), 1.0);
    return backend.copy(g.tensor, grad_out());
  }
  node->gradient = grad_out();
  node->written = true;
}

Tensor Backward::factor(DType factor) {
  if (factor != DType::bf16) return grad_out();
  const Tensor half = temporary(grad_out().shape(), factor);
  backend.round(half, grad_out());
  return half;
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
