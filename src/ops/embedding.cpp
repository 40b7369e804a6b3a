#include "ops/embedding.h"

#include <vector>

#include "backend/backend.h"
#include "ops/dropout.h"

namespace dragoman {

namespace {

// The ids without those of dropped words: -1 stands for a row of zeros.
Tensor kept_ids(const Tensor& ids, const Dropout& words) {
  const auto all = ids.view<int32_t>();
  std::vector<int32_t> kept(size_t(ids.elements()));
  for (int64_t n = 0; n < ids.elements(); ++n)
    kept[size_t(n)] = dropout_factor(words, n, words.op, 0) == 0 ? -1 : all(n);
  return int_tensor(std::move(kept), ids.shape());
}

}  // namespace

Var embedding(Context& cx, const EmbeddingInput& in, const Dropout& drop) {
  require(in.table.shape().rank() == 2, "embedding: table is {}, expected (V,D)", in.table.shape());
  require(in.positions.shape() == Shape{in.ids.elements(), 2}, "embedding: positions is {}, expected {}",
          in.positions.shape(), Shape{in.ids.elements(), 2});
  require(!in.position_table || in.position_table.cols() == in.table.cols(),
          "embedding: position_table is {}, expected (P,{})", in.position_table.shape(), in.table.cols());
  check_positions("embedding", drop, in.ids.elements());
  check_positions("embedding", in.words, in.ids.elements());
  Var y = cx.make({in.ids.elements(), in.table.cols()}, in.table.dtype(), {in.table, in.position_table});
  const Tensor ids = in.words.active() ? kept_ids(in.ids, in.words) : in.ids;
  const Embedding e{ids, in.positions, in.table, in.position_table, in.scale * in.words.scale(), drop};
  cx.backend.embedding(y, e);
  cx.record("embedding", y, [=](Backward& b) {
    const Grad dtable = b.grad(in.table), dposition_table = in.position_table ? b.grad(in.position_table) : Grad{};
    if (dtable || dposition_table) b.backend.embedding_backward(dtable, dposition_table, b.grad_out(), e);
  });
  return y;
}

}  // namespace dragoman
