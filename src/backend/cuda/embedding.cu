#include <algorithm>
#include <numeric>

#include "backend/cuda/families.h"
#include "backend/cuda/mask.cuh"

namespace dragoman::cuda {
namespace {

// y = mask · (scale · table[id] + positions[token])
void forward(const Tensor& y, const Embedding& e) {
  const auto Y = view<float>(y);
  const auto table = view<const float>(e.table), positions = view<const float>(e.positions);
  const int32_t *ids = integers(e.ids), *places = positions ? integers(e.places) : nullptr;
  const auto scale = float(e.scale);
  each_masked(Y.rows, Y.cols, Mask(e.dropout), [=] __device__(int64_t n, int64_t d, float factor) {
    const float position = positions ? positions(places[2 * n + 1], d) : 0.f;
    Y(n, d) = factor * (scale * table(ids[n], d) + position);
  });
}

/// Which rows of a batch go to which row of a table, in rising order of both: the host sorts, so that the device adds
/// in one order and needs no atomic additions.
struct Grouped {
  std::vector<int32_t> keys, begins, rows;  // (U)  (U+1)  (N)

  Grouped(const int32_t* key, int64_t N, int64_t stride) : rows(size_t(N)) {
    std::iota(rows.begin(), rows.end(), 0);
    std::stable_sort(rows.begin(), rows.end(), [&](int32_t a, int32_t b) { return key[a * stride] < key[b * stride]; });
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!keys.empty() && keys.back() == key[rows[i] * stride]) continue;
      keys.push_back(key[rows[i] * stride]);
      begins.push_back(int32_t(i));
    }
    begins.push_back(int32_t(N));
  }
};

// dtable[key of a group] += scale · Σ mask · dy over the rows of the group
void add_groups(const Grad& dtable, const Tensor& dy, const Mask& mask, const Grouped& groups, double scale) {
  if (!dtable.adds())
    DRAGOMAN_CUDA_CHECK(cudaMemsetAsync(dtable.tensor.data(), 0, size_t(dtable.tensor.bytes()), stream()));
  const Uploaded keys(groups.keys), begins(groups.begins), rows(groups.rows);
  const int32_t *key = keys.data(), *begin = begins.data(), *row = rows.data();
  const auto DT = view<float>(dtable.tensor);
  const auto DY = view<const float>(dy);
  const auto factor = float(scale);
  each_element(int64_t(groups.keys.size()), Mask::units(DY.cols), [=] __device__(int64_t g, int64_t unit) {
    float sums[Mask::width] = {};
    for (int32_t i = begin[g]; i < begin[g + 1]; ++i) {
      const Mask::Factors kept = mask.factors(row[i], unit);
      for (int j = 0; j < Mask::width; ++j)
        if (Mask::column(unit, j) < DY.cols) sums[j] += kept[j] * DY(row[i], Mask::column(unit, j));
    }
    for (int j = 0; j < Mask::width; ++j)
      if (Mask::column(unit, j) < DY.cols) DT(key[g], Mask::column(unit, j)) += factor * sums[j];
  });
}

// dtable[id] += scale · mask · dy;  dpositions[token] += mask · dy
void backward(Grad dtable, Grad dpositions, const Tensor& dy, const Embedding& e) {
  const Mask mask(e.dropout);
  if (dtable) add_groups(dtable, dy, mask, Grouped(e.ids.as<int32_t>(), dy.rows(), 1), e.scale);
  if (dpositions) add_groups(dpositions, dy, mask, Grouped(e.places.as<int32_t>() + 1, dy.rows(), 2), 1);
}

}  // namespace

void install_embedding(Backend& b) {
  b.embedding = forward;
  b.embedding_backward = backward;
}

}  // namespace dragoman::cuda
