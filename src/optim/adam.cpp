#include "optim/adam.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "backend/backend.h"

namespace dragoman {

Adam::Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options)
    : Adam(backend, arena, parameters, options, Ownership(parameters.flat_elements())) {}

Adam::Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options,
           const Ownership& ownership)
    : backend_(backend),
      parameters_(parameters),
      options_(options),
      ownership_(ownership),
      first_moments_(arena.allocate({length(ownership.own())}, parameters.dtype())),
      second_moments_(arena.allocate({length(ownership.own())}, parameters.dtype())),
      squares_(arena.allocate({1}, DType::f64)) {
  const auto rows = trained_rows(parameters, options.freeze);
  const int64_t first_owned = ownership.own().begin;
  for (int64_t s = ownership.own_slices().begin; s < ownership.own_slices().end; ++s) {
    auto& gradients = gradients_.emplace_back();
    for (const Range r : flat_ranges(parameters, rows, ownership.slice(int(s)))) {
      const auto part = [&](const Tensor& x, int64_t from) { return x.row_range(r.begin - from, length(r)); };
      trained_.push_back({part(parameters.flat_values(), 0), part(parameters.flat_gradients(), 0),
                          part(first_moments_, first_owned), part(second_moments_, first_owned)});
      gradients.push_back(trained_.back().gradient);
    }
  }
  restart();
}

void Adam::restart() {
  steps = 0;
  backend_.fill(first_moments_, 0.0);
  backend_.fill(second_moments_, 0.0);
}

void Adam::step(double rate, double target_tokens, const Tensor& loss) {
  parameters_.zero_unwritten_gradients();
  invariant(!pending_loss_, "outcome() must be called before the next step");
  const auto t = double(steps + 1);
  sum_squares();
  backend_.adam(trained_,
                AdamStep{.rate = rate,
                         .beta1 = options_.beta1,
                         .beta2 = options_.beta2,
                         .epsilon = options_.epsilon,
                         .weight_decay = options_.weight_decay,
                         .correction1 = 1 - std::pow(options_.beta1, t),
                         .correction2 = 1 - std::pow(options_.beta2, t),
                         .target_tokens = target_tokens,
                         .clip_norm = options_.clip_norm},
                AdamTotals{loss, squares_});
  ownership_.share(parameters_.flat_values());
  target_tokens_ = target_tokens;
  pending_loss_ = loss.send();
  pending_squares_ = squares_.send();
}

// Adds the sums of several slices in the order of slices, so that the result does not depend on the number of ranks.
void Adam::sum_squares() {
  if (ownership_.slices() == 1) return backend_.sum_of_squares(squares_, gradients_[0]);
  std::vector<double> of_slices(size_t(ownership_.slices()));
  auto own = of_slices.begin() + ownership_.own_slices().begin;
  for (const auto& gradients : gradients_) {
    backend_.sum_of_squares(squares_, gradients);
    *own++ = squares_.on_host().as<double>()[0];
  }
  ownership_.share(of_slices);
  double total = std::accumulate(of_slices.begin(), of_slices.end(), 0.0);
  squares_.assign(Tensor::borrow(&total, {1}));
}

bool Adam::Outcome::finite() const { return std::isfinite(loss) && std::isfinite(norm); }

Adam::Outcome Adam::outcome() {
  invariant(pending_loss_ && pending_squares_, "outcome() must be called once after each step");
  const Outcome outcome{std::exchange(pending_loss_, {})(),
                        std::sqrt(std::exchange(pending_squares_, {})()) / target_tokens_};
  steps += outcome.finite();
  return outcome;
}

}  // namespace dragoman
