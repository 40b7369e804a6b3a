#include "model/batch.h"

#include "autodiff/context.h"

namespace dragoman {

double Batch::label_weight() const {
  if (weights.empty()) return double(target.ids.size());
  double sum = 0;
  for (size_t s = 0; s < weights.size(); ++s) {
    const Range rows = target.spans[int(s)];
    sum += double(weights[s]) * double(rows.end - rows.begin);
  }
  return sum;
}

Tensor Batch::row_weights(const Spans& spans) const {
  if (weights.empty()) return {};
  std::vector<float> rows;
  rows.reserve(size_t(spans.rows()));
  for (size_t s = 0; s < weights.size(); ++s) {
    const Range own = spans[int(s)];
    rows.insert(rows.end(), size_t(own.end - own.begin), weights[s]);
  }
  return float_tensor(std::move(rows), {spans.rows()});
}

}  // namespace dragoman
