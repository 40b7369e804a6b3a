#include "tests/op_check/values.h"

#include <algorithm>
#include <numeric>

#include "backend/backend.h"
#include "base/philox.h"

namespace dragoman {

std::vector<double> normals(int64_t count, uint64_t stream) {
  PhiloxSequence draw(11, stream);
  std::vector<double> values(count);
  for (double& v : values) v = float(draw.normal());
  return values;
}

Tensor tensor_of(Arena& arena, Shape shape, const std::vector<double>& values, DType dtype) {
  invariant(int64_t(values.size()) == shape.elements(), "the number of values must match the shape");
  const Tensor x = arena.allocate(shape, dtype), host = x.on_host();
  for_stored(dtype, [&]<class T>() {
    std::transform(values.begin(), values.end(), host.as<T>(), [](double v) { return T(v); });
  });
  x.assign(host);
  return x;
}

std::vector<double> values_of(const Tensor& tensor) {
  const Tensor x = tensor.on_host();
  std::vector<double> values;
  for_stored(x.dtype(), [&]<class T>() {
    const auto X = x.view<T>();
    for (int64_t n = 0; n < X.rows; ++n) values.insert(values.end(), X.row(n), X.row(n) + X.cols);
  });
  return values;
}

double sum_of(const Tensor& x) {
  const std::vector<double> values = values_of(x);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Tensor positions_of(const Spans& spans) {
  std::vector<int32_t> positions;
  for (int s = 0; s < spans.sentences(); ++s)
    for (int32_t token = 0; token < spans[s].end - spans[s].begin; ++token)
      positions.insert(positions.end(), {s, token});
  return int_tensor(std::move(positions), {spans.rows(), 2});
}

namespace {

Arena arena_of(const Backend& backend, int64_t capacity) {
  return backend.memory ? Arena(*backend.memory, capacity) : Arena(Arena::Reserve::memory, capacity);
}

}  // namespace

ByHand::ByHand(const std::string& name, DType dtype) : ByHand(dragoman::backend(name), dtype) {}

ByHand::ByHand(const Backend& backend, DType dtype, int64_t capacity)
    : dtype(dtype),
      arena(arena_of(backend, capacity)),
      cx{.backend = backend, .arena = arena, .tape = &tape, .training = true} {}

Var ByHand::constant(Shape shape, const std::vector<double>& values) {
  return Var(tensor_of(arena, shape, values, dtype));
}

Var ByHand::var(Shape shape, const std::vector<double>& values) {
  return Var(tensor_of(arena, shape, values, dtype), std::make_shared<Node>());
}

Var ByHand::random(Shape shape, uint64_t stream) { return var(shape, normals(shape.elements(), stream)); }

void ByHand::backward(const Var& y, const std::vector<double>& dy) {
  y.node()->gradient = tensor_of(arena, y.shape(), dy, dtype);
  y.node()->written = true;
  tape.backward(cx.backend, arena);
}

}  // namespace dragoman
