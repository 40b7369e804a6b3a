#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/embedding.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/embedding.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

void EmbedRows(View<float> Y, const Embedding& e, Range rows) {
  const F32 d;
  const int64_t L = hn::Lanes(d), D = Y.cols;
  const Mask mask = MaskOf(e.dropout, e.dropout.op);
  const auto table = e.table.view<const float>(), position_table = e.position_table.view<const float>();
  const auto ids = e.ids.view<int32_t>(), positions = e.positions.view<int32_t>();
  const VF scale = hn::Set(d, float(e.scale));
  HWY_ALIGN float factors[128];
  std::fill_n(factors, 128, 1.0f);
  for (int64_t n = rows.begin; n < rows.end; ++n) {
    const float* row = ids(n) < 0 ? nullptr : table.row(ids(n));
    const float* position = position_table ? position_table.row(positions(n, 1)) : nullptr;
    for (int64_t from = 0; from < D; from += 128) {
      if (e.dropout.active()) MaskGroup(mask, positions(n, 0), positions(n, 1), uint32_t(from / 128), factors);
      for (int64_t c = from; c < std::min(D, from + 128); c += L) {
        const VF p = position ? LoadN(d, position + c, D - c) : hn::Zero(d);
        const VF x = row ? hn::MulAdd(scale, LoadN(d, row + c, D - c), p) : p;
        StoreN(hn::Mul(x, hn::LoadU(d, factors + (c - from))), d, Y.row(n) + c, D - c);
      }
    }
  }
}

// Adds rows of dy into columns [columns.begin, columns.end) of the tables. A thread owns columns, so that no two
// threads add to the same element and the order of addition is the order of rows.
void ScatterColumns(View<float> DT, View<float> DP, View<const float> DY, const Embedding& e, Range columns) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  const Mask mask = MaskOf(e.dropout, e.dropout.op);
  const auto ids = e.ids.view<int32_t>(), positions = e.positions.view<int32_t>();
  HWY_ALIGN float factors[128];
  std::fill_n(factors, 128, 1.0f);
  for (int64_t n = 0; n < DY.rows; ++n)
    for (int64_t c = columns.begin; c < columns.end;) {
      const int64_t group = c / 128, end = std::min(columns.end, (group + 1) * 128);
      if (e.dropout.active()) MaskGroup(mask, positions(n, 0), positions(n, 1), uint32_t(group), factors);
      for (; c < end; c += L) {
        const int64_t k = end - c;
        const VF g = hn::Mul(LoadN(d, DY.row(n) + c, k), LoadN(d, factors + (c - group * 128), k));
        if (DT && ids(n) >= 0) {
          float* row = DT.row(ids(n)) + c;
          StoreN(hn::MulAdd(hn::Set(d, float(e.scale)), g, LoadN(d, row, k)), d, row, k);
        }
        if (DP) {
          float* row = DP.row(positions(n, 1)) + c;
          StoreN(hn::Add(g, LoadN(d, row, k)), d, row, k);
        }
      }
      c = end;
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(EmbedRows);
HWY_EXPORT(ScatterColumns);

// Look-up, scale, position and dropout in one pass: 8 bytes per element.
void embedding(const Tensor& y, const Embedding& e) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(EmbedRows);
  parallel_blocks(y.rows(), 16, [&](Range rows, int) { rows_of(y.view<float>(), e, rows); });
}

void begin(const Grad& g) {
  if (!g || g.adds()) return;
  const auto G = g.tensor.view<float>();
  parallel_blocks(G.rows, 16, [&](Range rows, int) {
    for (int64_t n = rows.begin; n < rows.end; ++n) std::fill_n(G.row(n), G.cols, 0.0f);
  });
}

void embedding_backward(Grad dtable, Grad dposition_table, const Tensor& dy, const Embedding& e) {
  begin(dtable);
  begin(dposition_table);
  const auto columns_of = HWY_DYNAMIC_DISPATCH(ScatterColumns);
  parallel_blocks(dy.cols(), 64, [&](Range columns, int) {
    columns_of(dtable.tensor.view<float>(), dposition_table.tensor.view<float>(), dy.view<const float>(), e, columns);
  });
}

}  // namespace

void install_embedding(EmbeddingKernels& b) {
  b.embedding = embedding;
  b.embedding_backward = embedding_backward;
}

}  // namespace dragoman::cpu
#endif
