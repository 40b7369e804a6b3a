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
  const auto sum = [=] __device__(int64_t n, int64_t d) {
    const float position = position_table ? position_table(positions[2 * n + 1], d) : 0.f;
    const float row = ids[n] < 0 ? 0.f : table(ids[n], d);
    return scale * row + position;
  };
  each_masked(Y.rows, Y.cols, Mask(e.dropout), sum,
              [=] __device__(int64_t n, int64_t d, float kept) { Y(n, d) = kept; });
}

constexpr int most_slices = 8, few = 16;

/// The rows of a batch grouped by their row of a table, without those that have none: first the groups of more than
/// `few` rows. The host sorts (by counting), so that the device adds in a fixed order and needs no atomic additions.
struct Grouped {
  std::vector<int32_t> groups, rows;  // (key, begin, end) of each group  (rows)
  int64_t large = 0;                  // groups of more than `few` rows

  Grouped(const int32_t* key, int64_t N, int64_t stride) {
    std::vector<int32_t> next;  // of each key: how many rows it has, then where its next row goes
    for (int64_t n = 0; n < N; ++n) {
      const int32_t k = key[n * stride];
      if (k < 0) continue;
      if (size_t(k) >= next.size()) next.resize(size_t(k) + 1);
      ++next[size_t(k)];
    }
    int32_t begin = 0;
    std::vector<int32_t> small;
    for (size_t k = 0; k < next.size(); ++k) {
      const int32_t count = std::exchange(next[k], begin);
      auto& to = count > few ? groups : small;
      if (count > 0) to.insert(to.end(), {int32_t(k), begin, begin + count});
      begin += count;
    }
    large = int64_t(groups.size()) / 3;
    groups.insert(groups.end(), small.begin(), small.end());
    rows.resize(size_t(begin));
    for (int64_t n = 0; n < N; ++n)
      if (const int32_t k = key[n * stride]; k >= 0) rows[size_t(next[size_t(k)]++)] = int32_t(n);
  }
  int64_t count() const { return int64_t(groups.size()) / 3; }
};

// Each warp handles some columns of a slice of a group, since a single piece may be every tenth token. Slices of a
// group are in the same block. Reads of several rows overlap.
__global__ void group_kernel(View<float> dtable, View<const float> dy, Mask mask, const int32_t* groups, int count,
                             const int32_t* rows, float scale, int slices) {
  constexpr int at_once = 4;
  __shared__ float sums[most_slices][Mask::width][warp_size];
  const int warp = int(threadIdx.x / warp_size), lane = int(threadIdx.x % warp_size);
  const int slice = warp % slices, group = int(blockIdx.x) * (most_slices / slices) + warp / slices;
  const int64_t unit = int64_t{blockIdx.y} * warp_size + lane;
  const bool inside = unit < Mask::units(dy.cols) && group < count;
  const int32_t key = inside ? groups[3 * group] : 0, end = inside ? groups[3 * group + 2] : 0;
  float sum[Mask::width] = {}, x[at_once][Mask::width];
  int32_t row[at_once];
  for (int32_t first = inside ? groups[3 * group + 1] + slice : 0; first < end; first += at_once * slices) {
#pragma unroll
    for (int i = 0; i < at_once; ++i) row[i] = first + i * slices < end ? rows[first + i * slices] : -1;
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      for (int j = 0; j < Mask::width; ++j) {
        const int64_t column = Mask::column(unit, j);
        x[i][j] = row[i] >= 0 && column < dy.cols ? dy(row[i], column) : 0.f;
      }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (row[i] < 0) break;
      const Mask::Factors kept = mask.factors(row[i], unit);
      for (int j = 0; j < Mask::width; ++j) sum[j] += kept[j] * x[i][j];
    }
  }
  for (int j = 0; j < Mask::width; ++j) sums[warp][j][lane] = sum[j];
  __syncthreads();
  if (slice > 0 || !inside) return;
  float old[Mask::width];
  const auto each_column = [&](const auto& f) {
    for (int j = 0; j < Mask::width; ++j)
      if (const int64_t column = Mask::column(unit, j); column < dy.cols) f(dtable(key, column), j);
  };
  each_column([&](const float& element, int j) { old[j] = element; });
  each_column([&](float& element, int j) {
    float all = 0;
    for (int s = 0; s < slices; ++s) all += sums[warp + s][j][lane];
    element = old[j] + scale * all;
  });
}

// For each group: dtable[key] += scale · Σ mask · dy over its rows.
void add_groups(const Grad& dtable, const Tensor& dy, const Mask& mask, const Grouped& grouped, double scale) {
  if (!dtable.adds()) clear(dtable.tensor);
  const Uploaded groups(grouped.groups), rows(grouped.rows);
  const auto add = [&](int64_t first, int64_t count, int slices) {
    const dim3 grid(blocks_of(count, most_slices / slices), blocks_of(Mask::units(dy.cols()), warp_size));
    launch(group_kernel, grid, dim3(warp_size * most_slices), 0, view<float>(dtable.tensor), view<const float>(dy),
           mask, groups.data() + 3 * first, int(count), rows.data(), float(scale), slices);
  };
  add(0, grouped.large, most_slices);
  add(grouped.large, grouped.count() - grouped.large, 1);
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
