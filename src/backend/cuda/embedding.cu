#include <utility>

#include "backend/cuda/families.h"
#include "backend/cuda/mask.cuh"

namespace dragoman::cuda {
namespace {

// y = mask · (scale · table[id] + positions[token])
void forward(const Tensor& y, const Embedding& e) {
  const auto Y = view<float>(y);
  const auto table = view<const float>(e.table), position_table = view<const float>(e.position_table);
  const int32_t *ids = integers(e.ids), *positions = position_table ? integers(e.positions) : nullptr;
  const auto scale = float(e.scale);
  each_masked(Y.rows, Y.cols, Mask(e.dropout), [=] __device__(int64_t n, int64_t d, float factor) {
    const float position = position_table ? position_table(positions[2 * n + 1], d) : 0.f;
    const float row = ids[n] < 0 ? 0.f : table(ids[n], d);
    Y(n, d) = factor * (scale * row + position);
  });
}

/// The rows of a batch grouped by their row of a table, both in ascending order, without those that have none. The host
/// sorts (by counting), so that the device adds in a fixed order and needs no atomic additions.
struct Grouped {
  std::vector<int32_t> keys, begins, rows;  // (U)  (U+1)  (begins[U])

  Grouped(const int32_t* key, int64_t N, int64_t stride) {
    std::vector<int32_t> next;  // of each key: how many rows it has, then where its next row goes
    for (int64_t n = 0; n < N; ++n) {
      const int32_t k = key[n * stride];
      if (k < 0) continue;
      if (size_t(k) >= next.size()) next.resize(size_t(k) + 1);
      ++next[size_t(k)];
    }
    int32_t begin = 0;
    for (size_t k = 0; k < next.size(); ++k) {
      if (next[k] > 0) keys.push_back(int32_t(k)), begins.push_back(begin);
      begin += std::exchange(next[k], begin);
    }
    begins.push_back(begin);
    rows.resize(size_t(begin));
    for (int64_t n = 0; n < N; ++n)
      if (const int32_t k = key[n * stride]; k >= 0) rows[size_t(next[size_t(k)]++)] = int32_t(n);
  }
};

constexpr unsigned slices = 8;

// Each block handles some columns of one group. Its rows are split into slices, since a single piece may be every tenth
// token.
__global__ void group_kernel(View<float> dtable, View<const float> dy, Mask mask, const int32_t* key,
                             const int32_t* begin, const int32_t* row, float scale) {
  __shared__ float sums[slices][Mask::width][warp_size];
  const unsigned slice = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const int64_t group = blockIdx.x, unit = int64_t{blockIdx.y} * warp_size + lane;
  const bool inside = unit < Mask::units(dy.cols);
  float sum[Mask::width] = {};
  for (int32_t i = begin[group] + int32_t(slice); inside && i < begin[group + 1]; i += slices) {
    const Mask::Factors kept = mask.factors(row[i], unit);
    for (int j = 0; j < Mask::width; ++j)
      if (Mask::column(unit, j) < dy.cols) sum[j] += kept[j] * dy(row[i], Mask::column(unit, j));
  }
  for (int j = 0; j < Mask::width; ++j) sums[slice][j][lane] = sum[j];
  __syncthreads();
  if (slice > 0 || !inside) return;
  for (int j = 0; j < Mask::width; ++j) {
    if (Mask::column(unit, j) >= dy.cols) continue;
    float all = 0;
    for (unsigned s = 0; s < slices; ++s) all += sums[s][j][lane];
    dtable(key[group], Mask::column(unit, j)) += scale * all;
  }
}

// For each group: dtable[key] += scale · Σ mask · dy over its rows.
void add_groups(const Grad& dtable, const Tensor& dy, const Mask& mask, const Grouped& groups, double scale) {
  if (!dtable.adds()) clear(dtable.tensor);
  const Uploaded keys(groups.keys), begins(groups.begins), rows(groups.rows);
  const dim3 grid(unsigned(groups.keys.size()), blocks_of(Mask::units(dy.cols()), warp_size)),
      block(warp_size * slices);
  launch(group_kernel, grid, block, 0, view<float>(dtable.tensor), view<const float>(dy), mask, keys.data(),
         begins.data(), rows.data(), float(scale));
}

// dtable[id] += scale · mask · dy;  dpositions[token] += mask · dy
void backward(Grad dtable, Grad dposition_table, const Tensor& dy, const Embedding& e) {
  const Mask mask(e.dropout);
  if (dtable) add_groups(dtable, dy, mask, Grouped(e.ids.as<int32_t>(), dy.rows(), 1), e.scale);
  if (dposition_table) add_groups(dposition_table, dy, mask, Grouped(e.positions.as<int32_t>() + 1, dy.rows(), 2), 1);
}

}  // namespace

void install_embedding(Backend& b) {
  b.embedding = forward;
  b.embedding_backward = backward;
}

}  // namespace dragoman::cuda
