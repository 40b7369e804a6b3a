#include "ops/experts.h"

#include "backend/backend.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

// (N,k) in host memory, because the host plans the dispatch. A backend that computes nothing leaves these even routes
// unchanged.
Tensor even_routes(int64_t N, int k, int64_t E) {
  std::vector<int32_t> experts(size_t(N * k));
  for (size_t i = 0; i < experts.size(); ++i) experts[i] = int32_t(i % size_t(E));
  return int_tensor(std::move(experts), {N, k});
}

// load_loss · E · f_e, the gradient of p_ne in a row of weight 1.
Tensor load_of(const Tensor& experts, int64_t E, double load_loss, const Tensor& weights) {
  std::vector<float> load(size_t(E), 0.0f);
  const auto of = experts.view<int32_t>();
  std::vector<double> counts(size_t(E), 0);
  double all = 0;
  for (int64_t n = 0; n < of.rows; ++n)
    for (int64_t j = 0; j < of.cols; ++j) {
      const double weight = weights ? weights.as<float>()[n] : 1;
      counts[size_t(of(n, j))] += weight;
      all += weight;
    }
  const double share = load_loss * double(E) / (all > 0 ? all : 1);
  for (size_t e = 0; e < load.size(); ++e) load[e] = float(share * counts[e]);
  return float_tensor(std::move(load), {E});
}

}  // namespace

Routes route(Context& cx, const Var& stored, int k, double load_loss, const Tensor& weights) {
  const Var logits = widened(cx, stored);
  require(logits.shape().rank() == 2 && k >= 1 && k <= logits.cols(),
          "route: logits is {}, expected (N,E) with at least k = {} experts", logits.shape(), k);
  const int64_t N = logits.rows(), E = logits.cols();
  const Routes routes{cx.make({N, k}, logits.dtype(), {logits}), even_routes(N, k, E)};
  cx.backend.route(routes.gates, routes.experts, logits);
  cx.record("route", routes.gates, [=, experts = routes.experts](Backward& b) {
    const Tensor load = load_loss > 0 ? load_of(experts, E, load_loss, weights) : Tensor();
    if (const Grad dlogits = b.grad(logits))
      b.backend.route_backward(dlogits, b.grad_out(), logits, experts, load, weights);
  });
  return routes;
}

Dispatch dispatch(const Tensor& experts, int count, int64_t capacity) {
  const auto of = experts.view<int32_t>();
  std::vector<std::vector<int32_t>> taken(static_cast<size_t>(count));  // elements of (N,k), by expert
  for (int64_t j = 0; j < of.cols; ++j)
    for (int64_t n = 0; n < of.rows; ++n) {
      std::vector<int32_t>& rows = taken[size_t(of(n, j))];
      if (int64_t(rows.size()) < capacity) rows.push_back(int32_t(n * of.cols + j));
    }
  std::vector<int32_t> offsets = {0}, rows, copies(size_t(experts.elements()), -1);
  for (const auto& elements : taken) {
    for (const int32_t element : elements) {
      copies[size_t(element)] = int32_t(rows.size());
      rows.push_back(element / int32_t(of.cols));
    }
    offsets.push_back(int32_t(rows.size()));
  }
  const auto M = int64_t(rows.size());
  return {Spans(std::move(offsets)), int_tensor(std::move(rows), {M}), int_tensor(std::move(copies), experts.shape())};
}

}  // namespace dragoman
