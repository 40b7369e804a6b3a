#include "optim/adam.h"

#include <cmath>

namespace dragoman {

Adam::Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options)
    : backend_(backend), parameters_(parameters), options_(options) {
  for (const Var& v : parameters.buffers()) {
    const auto moment = [&] { return v.node() ? arena.allocate(v.shape(), v.dtype()) : Tensor(); };
    first_moments_.push_back(moment());
    second_moments_.push_back(moment());
  }
  for (const TrainedRows& t : trained_rows(parameters, options.freeze)) {
    const Var& v = parameters.buffers()[t.buffer];
    trained_.push_back(
        {t.of(v), t.of(v.node()->gradient), t.of(first_moments_[t.buffer]), t.of(second_moments_[t.buffer])});
    gradients_.push_back(trained_.back().gradient);
  }
  restart();
}

void Adam::restart() {
  steps = 0;
  for (const auto& moments : {first_moments_, second_moments_})
    for (const Tensor& m : moments)
      if (m) backend_.fill(m, 0.0);
}

double Adam::step(double rate, double labels) {
  for (const Var& v : parameters_.buffers())
    if (v.node() && !v.node()->written) backend_.fill(v.node()->gradient, 0.0);  // a parameter this batch did not meet
  const double norm = std::sqrt(backend_.sum_of_squares(gradients_)) / labels;
  if (!std::isfinite(norm)) return norm;
  const double clip = options_.clip_norm > 0 && norm > options_.clip_norm ? options_.clip_norm / norm : 1;
  ++steps;
  backend_.adam(trained_,
                AdamStep{rate, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay,
                         1 - std::pow(options_.beta1, double(steps)), 1 - std::pow(options_.beta2, double(steps))},
                clip / labels);
  return norm;
}

std::vector<Adam::NamedMoment> Adam::moments() const {
  std::vector<NamedMoment> named;
  for (const auto& p : parameters_.named()) {
    if (!p.trained) continue;
    named.push_back({"first_moment/" + p.name, p.part_of(first_moments_[p.buffer])});
    named.push_back({"second_moment/" + p.name, p.part_of(second_moments_[p.buffer])});
  }
  return named;
}

}  // namespace dragoman
