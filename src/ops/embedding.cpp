#include "ops/embedding.h"

#include "backend/backend.h"
#include "ops/dropout.h"

namespace dragoman {

Var embedding(Context& cx, const EmbeddingInput& in, const Dropout& drop) {
  require(in.table.shape().rank() == 2, "embedding: table is {}, expected (V,D)", in.table.shape());
  require(in.places.shape() == Shape{in.ids.elements(), 2}, "embedding: places is {}, expected {}", in.places.shape(),
          Shape{in.ids.elements(), 2});
  require(!in.positions || in.positions.cols() == in.table.cols(), "embedding: positions is {}, expected (P,{})",
          in.positions.shape(), in.table.cols());
  check_places("embedding", drop, in.ids.elements());
  Var y = cx.make({in.ids.elements(), in.table.cols()}, in.table.dtype());
  const Embedding e{in.ids, in.places, in.table, in.positions, in.scale, drop};
  cx.backend.embedding(y, e);
  cx.record("embedding", y, [=](Backward& b) {
    const Grad dtable = b.grad(in.table), dpositions = in.positions ? b.grad(in.positions) : Grad{};
    if (dtable || dpositions) b.backend.embedding_backward(dtable, dpositions, b.grad_out(), e);
  });
  return y;
}

}  // namespace dragoman
