#include "ops/embedding.h"

#include "backend/backend.h"
#include "ops/dropout.h"

namespace dragoman {

Var embedding(Context& cx, const EmbeddingInput& in, const Dropout& drop) {
  require(in.table.shape().rank() == 2, "embedding: table is {}, expected (V,D)", in.table.shape());
  require(in.positions.shape() == Shape{in.ids.elements(), 2}, "embedding: positions is {}, expected {}",
          in.positions.shape(), Shape{in.ids.elements(), 2});
  require(!in.position_table || in.position_table.cols() == in.table.cols(),
          "embedding: position_table is {}, expected (P,{})", in.position_table.shape(), in.table.cols());
  check_positions("embedding", drop, in.ids.elements());
  Var y = cx.make({in.ids.elements(), in.table.cols()}, in.table.dtype(), {in.table, in.position_table});
  const Embedding e{in.ids, in.positions, in.table, in.position_table, in.scale, drop};
  cx.backend.embedding(y, e);
  cx.record("embedding", y, [=](Backward& b) {
    const Grad dtable = b.grad(in.table), dposition_table = in.position_table ? b.grad(in.position_table) : Grad{};
    if (dtable || dposition_table) b.backend.embedding_backward(dtable, dposition_table, b.grad_out(), e);
  });
  return y;
}

}  // namespace dragoman
