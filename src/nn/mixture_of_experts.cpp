#include "nn/mixture_of_experts.h"

#include <cmath>

#include "ops/experts.h"
#include "ops/linear.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// (M,2): positions of the rows that experts take, for their dropout.
Tensor positions_of_rows(const Tensor& positions, const Tensor& rows) {
  const auto of = positions.view<int32_t>();
  std::vector<int32_t> own;
  for (int64_t m = 0; m < rows.elements(); ++m) {
    const int64_t n = rows.as<int32_t>()[m];
    own.insert(own.end(), {of(n, 0), of(n, 1)});
  }
  return int_tensor(std::move(own), {rows.elements(), 2});
}

}  // namespace

Var MixtureOfExperts::operator()(Context& cx, const Var& x, const Tensor& positions, const Tensor& weights) const {
  const auto E = int64_t(experts.size());
  const double share = double(x.rows() * top_k) / double(E);
  const bool limited = cx.training && capacity > 0;
  const Routes routes = route(cx, linear(cx, x, router, Var()), top_k, load_loss, weights);
  const Dispatch to = dispatch(routes.experts, int(E), limited ? int64_t(std::ceil(capacity * share)) : x.rows());
  const Var taken = copy_rows(cx, x, to.rows, to.copies);  // (M,D), the first expert's rows first
  const Tensor taken_positions = positions_of_rows(positions, to.rows);
  std::vector<Var> given;
  for (int64_t e = 0; e < E; ++e) {
    const Range own = to.spans[int(e)];
    const int64_t count = own.end - own.begin;
    given.push_back(experts[size_t(e)](cx, rows(taken, own.begin, count), taken_positions.row_range(own.begin, count)));
  }
  return mix_rows(cx, stack_rows(cx, given), to.copies, routes.gates);
}

}  // namespace dragoman
