#include "backend/embedding.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// y = mask · (scale · table[id] + positions[token])  (Vaswani et al. 2017, sections 3.4, 3.5, 5.4)
void forward(const Tensor& y, const Embedding& e) {
  for_dtype(y.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), table = e.table.view<T>(), position_table = e.position_table.view<T>();
    const auto ids = e.ids.view<int32_t>(), positions = e.positions.view<int32_t>();
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t d = 0; d < Y.cols; ++d) {
        const T position = position_table ? position_table(positions(n, 1), d) : T(0);
        const T row = ids(n) < 0 ? T(0) : table(ids(n), d);
        Y(n, d) = T(dropout_factor(e.dropout, n, e.dropout.op, d)) * (T(e.scale) * row + position);
      }
  });
}

// dtable[id] += scale · mask · dy;  dpositions[token] += mask · dy
void backward(Grad dtable, Grad dposition_table, const Tensor& dy, const Embedding& e) {
  for_dtype(dy.dtype(), [&]<class T>() {
    const auto DY = dy.view<T>(), DT = dtable.tensor.view<T>(), DP = dposition_table.tensor.view<T>();
    const auto ids = e.ids.view<int32_t>(), positions = e.positions.view<int32_t>();
    if (DT) begin(DT, dtable.mode);
    if (DP) begin(DP, dposition_table.mode);
    for (int64_t n = 0; n < DY.rows; ++n)
      for (int64_t d = 0; d < DY.cols; ++d) {
        const T g = T(dropout_factor(e.dropout, n, e.dropout.op, d)) * DY(n, d);
        if (DT && ids(n) >= 0) DT(ids(n), d) += T(e.scale) * g;
        if (DP) DP(positions(n, 1), d) += g;
      }
  });
}

}  // namespace

void install_embedding(EmbeddingKernels& b) {
  b.embedding = forward;
  b.embedding_backward = backward;
}

}  // namespace dragoman::reference
