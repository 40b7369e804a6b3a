#include "backend/copying.h"

#include <limits>

#include "backend/attention_shape.h"
#include "backend/loss.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// One row: log softmax of the scores, then for each piece the sum of generating and copying it.
template <class T>
void copy_row(const LossKernels::CopyStep& c, int64_t r) {
  const auto y = c.y.view<T>(), scores = c.scores.view<T>(), Q = c.q.view<T>(), K = c.k.view<T>();
  const auto pieces = c.pieces.view<int32_t>();
  const int64_t first = c.keys.begin.as<int32_t>()[r], count = c.keys.length.as<int32_t>()[r];
  const T gate = c.gate.view<T>()(r, 0), scale = T(score_scale(Score::scaled_dot, Q.cols));
  T top = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t t = 0; t < count; ++t) {
    T dot = 0;
    for (int64_t d = 0; d < Q.cols; ++d) dot += Q(r, d) * K(first + t, d);
    top = std::max(top, scores(r, t) = scale * dot);
  }
  for (int64_t t = 0; t < count; ++t) sum += std::exp(scores(r, t) - top);
  const T generated = log_sigmoid(gate) - c.lse.as<T>()[r], copied = log_sigmoid(-gate) - top - std::log(sum);
  for (int64_t v = 0; v < y.cols; ++v) y(r, v) += generated;
  for (int64_t t = 0; t < count; ++t) {
    T& log_prob = y(r, pieces(r, t));
    log_prob = log_add(log_prob, copied + scores(r, t));
  }
}

}  // namespace

void install_copying(LossKernels& b) {
  b.copy_step = [](const LossKernels::CopyStep& c) {
    for_dtype(c.y.dtype(), [&]<class T>() {
      for (int64_t r = 0; r < c.y.rows(); ++r) copy_row<T>(c, r);
    });
  };
}

}  // namespace dragoman::reference
