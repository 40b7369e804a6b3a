#include "optim/adam.h"

#include <cmath>
#include <utility>

#include "backend/backend.h"

namespace dragoman {

Adam::Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options)
    : backend_(backend),
      parameters_(parameters),
      options_(options),
      first_moments_(arena.allocate({parameters.flat_elements()}, parameters.dtype())),
      second_moments_(arena.allocate({parameters.flat_elements()}, parameters.dtype())),
      squares_(arena.allocate({1}, DType::f64)) {
  for (const TrainedRows& t : trained_rows(parameters, options.freeze)) {
    const Var& v = parameters.buffers()[t.buffer];
    trained_.push_back({t.of(v), t.of(v.node()->gradient), t.of(parameters.part_of(first_moments_, t.buffer)),
                        t.of(parameters.part_of(second_moments_, t.buffer))});
    gradients_.push_back(trained_.back().gradient);
  }
  restart();
}

void Adam::restart() {
  steps = 0;
  backend_.fill(first_moments_, 0.0);
  backend_.fill(second_moments_, 0.0);
}

void Adam::step(double rate, double target_tokens, const Tensor& loss) {
  for (const Var& v : parameters_.buffers())
    if (v.node() && !v.node()->written) backend_.fill(v.node()->gradient, 0.0);  // a parameter this batch did not meet
  invariant(!pending_loss_, "the outcome of a step is asked for before the next one");
  const auto t = double(steps + 1);
  backend_.sum_of_squares(squares_, gradients_);
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
  target_tokens_ = target_tokens;
  pending_loss_ = loss.send();
  pending_squares_ = squares_.send();
}

bool Adam::Outcome::finite() const { return std::isfinite(loss) && std::isfinite(norm); }

Adam::Outcome Adam::outcome() {
  invariant(pending_loss_ && pending_squares_, "the outcome of a step is asked for once");
  const Outcome outcome{std::exchange(pending_loss_, {})(),
                        std::sqrt(std::exchange(pending_squares_, {})()) / target_tokens_};
  steps += outcome.finite();
  return outcome;
}

std::vector<Adam::NamedMoment> Adam::moments() const {
  std::vector<NamedMoment> named;
  for (const auto& p : parameters_.named()) {
    if (!p.trained) continue;
    named.push_back({"first_moment/" + p.name, p.slice_of(parameters_.part_of(first_moments_, p.buffer))});
    named.push_back({"second_moment/" + p.name, p.slice_of(parameters_.part_of(second_moments_, p.buffer))});
  }
  return named;
}

}  // namespace dragoman
