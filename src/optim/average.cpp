#include "optim/average.h"

#include <algorithm>

#include "backend/backend.h"

namespace dragoman {
namespace {

// The rows that training changes: weights that are not frozen, and batch-norm statistics.
std::vector<TrainedRows> moving_rows(const Parameters& parameters, const std::vector<std::string>& frozen) {
  std::vector<TrainedRows> moving = trained_rows(parameters, frozen);
  for (const auto& p : parameters.named())
    if (!p.trained) moving.push_back({p.buffer, p.first, p.value.shape()[0]});
  return moving;
}

}  // namespace

MovingAverage::MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                             const std::vector<std::string>& frozen)
    : MovingAverage(backend, arena, parameters, weight, frozen, Ownership(parameters.flat_elements())) {}

MovingAverage::MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                             const std::vector<std::string>& frozen, const Ownership& ownership)
    : backend_(backend),
      arena_(arena),
      parameters_(parameters),
      weight_(weight),
      ownership_(ownership),
      averages_(arena.allocate({length(ownership.own())}, parameters.dtype())),
      moving_(flat_ranges(parameters, moving_rows(parameters, frozen), ownership.own())) {
  restart();
}

Tensor MovingAverage::values(Range r) const { return parameters_.flat_values().row_range(r.begin, length(r)); }

Tensor MovingAverage::averages(Range r) const {
  return averages_.row_range(r.begin - ownership_.own().begin, length(r));
}

void MovingAverage::restart() { backend_.copy(averages_, values(ownership_.own())); }

void MovingAverage::update(int64_t step) {
  const double weight = std::max(weight_, 9.0 / double(step + 10));
  for (const Range r : moving_) backend_.moving_average(averages(r), values(r), weight);
}

Tensor MovingAverage::room() const {
  constexpr int64_t at_once = 1 << 20;
  return arena_.allocate({std::min(at_once, length(ownership_.own()))}, averages_.dtype());
}

void MovingAverage::swap(const Tensor& room) {
  const Range own = ownership_.own();
  const int64_t at_once = room.shape()[0];
  for (int64_t from = own.begin; from < own.end; from += at_once) {
    const Range r{from, std::min(own.end, from + at_once)};
    const Tensor kept = room.row_range(0, length(r));
    backend_.copy(kept, values(r));
    backend_.copy(values(r), averages(r));
    backend_.copy(averages(r), kept);
  }
  ownership_.share(parameters_.flat_values());
}

Smoothed::Smoothed(std::optional<MovingAverage>& average)
    : average_(average), room_(average ? average->room() : Tensor()) {
  if (average_) average_->swap(room_);
}

Smoothed::~Smoothed() {
  try {
    if (average_) average_->swap(room_);
  } catch (const Error&) {  // a rank or the device is lost: the next exchange or kernel reports it
  }
}

}  // namespace dragoman
