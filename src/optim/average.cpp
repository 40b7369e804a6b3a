#include "optim/average.h"

#include <algorithm>

#include "backend/backend.h"

namespace dragoman {
namespace {

// What training changes: weights that are not frozen, and statistics.
std::vector<TrainedRows> moving_rows(const Parameters& parameters, const std::vector<std::string>& frozen) {
  std::vector<TrainedRows> moving = trained_rows(parameters, frozen);
  for (const auto& p : parameters.named())
    if (!p.trained) moving.push_back({p.buffer, p.first, p.value.shape()[0]});
  return moving;
}

}  // namespace

MovingAverage::MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                             const std::vector<std::string>& frozen)
    : backend_(backend),
      arena_(arena),
      parameters_(parameters),
      weight_(weight),
      averages_(arena.allocate({parameters.flat_elements()}, parameters.dtype())),
      moving_(moving_rows(parameters, frozen)) {
  restart();
}

void MovingAverage::restart() { backend_.copy(averages_, parameters_.flat_values()); }

void MovingAverage::update(int64_t step) {
  const double weight = std::max(weight_, 9.0 / double(step + 10));
  for (const TrainedRows& t : moving_)
    backend_.moving_average(t.of(parameters_.part_of(averages_, t.buffer)), t.of(parameters_.buffers()[t.buffer]),
                            weight);
}

void MovingAverage::swap() {
  for (size_t i = 0; i < parameters_.buffers().size(); ++i) {
    const Tensor &value = parameters_.buffers()[i], average = parameters_.part_of(averages_, i);
    const Tensor kept = arena_.allocate(value.shape(), value.dtype());
    backend_.copy(kept, value);
    backend_.copy(value, average);
    backend_.copy(average, kept);
  }
}

}  // namespace dragoman
