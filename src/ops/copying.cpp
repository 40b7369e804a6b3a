#include "ops/copying.h"

#include "backend/backend.h"

namespace dragoman {

void mix_copies(Context& cx, const Tensor& logits, const Tensor& q, const Tensor& gate, const CopyKeys& copies) {
  const auto& [k, keys, pieces] = copies;
  const int64_t R = logits.rows();
  require(q.shape().rank() == 2 && q.rows() == R && k.cols() == q.cols(),
          "mix_copies: logits are {}, q {} and k {}, expected (R,V), (R,K) and (C,K)", logits.shape(), q.shape(),
          k.shape());
  require(gate.shape() == Shape({R, 1}), "mix_copies: gate is {}, expected {}", gate.shape(), Shape({R, 1}));
  require(pieces.shape().rank() == 2 && pieces.rows() == R && keys.begin.shape() == Shape{R} &&
              keys.length.shape() == Shape{R},
          "mix_copies: pieces are {}, begin {} and length {}, expected (R,T), (R) and (R) with R = {}", pieces.shape(),
          keys.begin.shape(), keys.length.shape(), R);
  const Tensor best = cx.save({R, 1}, logits.dtype()), id = cx.save({R, 1}, DType::i32),
               lse = cx.save({R}, stat_type(logits.dtype()));
  cx.backend.top_k(best, id, lse, logits);
  const Tensor scores = cx.save(pieces.shape(), logits.dtype());
  cx.backend.copy_step(Backend::CopyStep{logits, scores, lse, q, k, gate, keys, pieces});
}

}  // namespace dragoman
