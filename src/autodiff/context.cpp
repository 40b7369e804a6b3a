#include "autodiff/context.h"

#include "backend/backend.h"

namespace dragoman {

Var Context::make(Shape shape, DType dtype, const Inputs& inputs, std::optional<DType> of_gradient) const {
  std::shared_ptr<Node> node;
  if (tape && (all_gradients || inputs.have_gradient)) {
    node = std::make_shared<Node>();
    node->type = of_gradient;
  }
  return Var(allocate_activation(arena, shape, dtype), std::move(node));
}

void Context::record(const char* name, const Var& output, Tape::Function backward) const {
  if (output.node()) tape->record(name, output, std::move(backward));
}

const Tensor* Context::packed_form(const Var& weight) const {
  if (tape || !packed) return nullptr;
  const auto found = packed->find(weight.value().data());
  return found == packed->end() ? nullptr : &found->second;
}

Context::Factors Context::factors(const Var& x, const Var& w) const {
  if (!rounds(w)) return {x, w};
  const Tensor& weight = rounded->copies.at(w.value().data());
  return {factor(x, weight.dtype()), weight};
}

Tensor Context::factor(const Tensor& x, DType type) const {
  if (x.dtype() == type) return x;
  const Tensor copy = allocate_activation(arena, x.shape(), type);
  backend.copy(copy, x);
  return copy;
}

Tensor Context::bias_for(DType result, const Var& b) const {
  return b && is_half(result) ? rounded->copies.at(b.value().data()) : b.value();
}

Dropout Context::dropout(double rate, const Tensor& positions) {
  const uint32_t op = random_ops++;
  if (!training || rate <= 0) return {};
  return {.rate = rate, .seed = seed, .update = update, .op = op, .positions = positions};
}

namespace {

template <class T>
Tensor host_tensor(std::vector<T> values, Shape shape) {
  invariant(int64_t(values.size()) == shape.elements(), "the number of values must match the shape");
  struct Made {
    std::vector<T> values;
    Mirror mirror;
  };
  auto owner = std::make_shared<Made>(Made{std::move(values), {}});
  owner->mirror = {owner->values.data(), int64_t(owner->values.size() * sizeof(T))};
  Mirror* mirror = &owner->mirror;
  T* data = owner->values.data();
  return Tensor(std::move(owner), data, shape, dtype_of<T>()).mirrored_by(mirror);
}

}  // namespace

Tensor int_tensor(std::vector<int32_t> values, Shape shape) { return host_tensor(std::move(values), shape); }
Tensor float_tensor(std::vector<float> values, Shape shape) { return host_tensor(std::move(values), shape); }
Tensor double_tensor(std::vector<double> values, Shape shape) { return host_tensor(std::move(values), shape); }

std::vector<Tensor> in_one_block(const std::vector<Tensor>& tables) {
  int64_t bytes = 0;
  std::vector<int64_t> begins;
  for (const Tensor& t : tables) {
    begins.push_back(bytes);
    bytes += (t.bytes() + 7) / 8 * 8;  // so that all are aligned
  }
  const Tensor block = host_tensor(std::vector<uint8_t>(size_t(bytes)), {bytes});
  std::vector<Tensor> moved;
  for (size_t i = 0; i < tables.size(); ++i) {
    moved.push_back(block.from_bytes(begins[i], tables[i].shape(), tables[i].dtype()));
    if (tables[i].bytes() > 0) std::memcpy(moved[i].data(), tables[i].data(), size_t(tables[i].bytes()));
  }
  return moved;
}

}  // namespace dragoman
