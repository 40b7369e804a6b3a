#include "optim/adam.h"

#include <cmath>

namespace dragoman {

Adam::Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options)
    : backend_(backend), parameters_(parameters), options_(options) {
  for (const Var& v : parameters.buffers()) {
    const AdamTensor t{v, v.node()->gradient, arena.allocate(v.shape(), v.dtype()),
                       arena.allocate(v.shape(), v.dtype())};
    backend.fill(t.first_moment, 0.0);
    backend.fill(t.second_moment, 0.0);
    tensors_.push_back(t);
  }
}

double Adam::step(double rate, double labels) {
  double squares = 0;
  for (const Var& v : parameters_.buffers()) {
    if (!v.node()->written) backend_.fill(v.node()->gradient, 0.0);  // a parameter this batch did not meet
    squares += backend_.sum_of_squares(v.node()->gradient);
  }
  const double norm = std::sqrt(squares) / labels;
  if (!std::isfinite(norm)) return norm;
  const double clip = options_.clip_norm > 0 && norm > options_.clip_norm ? options_.clip_norm / norm : 1;
  ++steps;
  backend_.adam(tensors_,
                AdamStep{rate, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay,
                         1 - std::pow(options_.beta1, double(steps)), 1 - std::pow(options_.beta2, double(steps))},
                clip / labels);
  return norm;
}

std::vector<Adam::NamedMoment> Adam::moments() const {
  std::vector<NamedMoment> named;
  for (const auto& p : parameters_.named()) {
    named.push_back({"first_moment/" + p.name, p.part_of(tensors_[p.buffer].first_moment)});
    named.push_back({"second_moment/" + p.name, p.part_of(tensors_[p.buffer].second_moment)});
  }
  return named;
}

}  // namespace dragoman
