#include "nn/attention_memory.h"

#include <algorithm>

#include "backend/backend.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

int32_t strides_in(int64_t rows, int64_t stride) { return int32_t((rows + stride - 1) / stride); }

}  // namespace

Spans blocks_of(const Spans& spans, int block) {
  std::vector<int32_t> offsets = {0};
  for (int s = 0; s < spans.sentences(); ++s)
    for (int64_t begin = spans[s].begin; begin < spans[s].end; begin += block)
      offsets.push_back(int32_t(std::min(spans[s].end, begin + block)));
  return Spans(std::move(offsets));
}

Spans strides_of(const Spans& spans, int stride) {
  std::vector<int32_t> lengths;
  for (int s = 0; s < spans.sentences(); ++s) lengths.push_back(strides_in(spans[s].end - spans[s].begin, stride));
  return Spans::of_lengths(lengths);
}

Past part_of(const Past& past, const MemoryShape& memory) {
  if (memory.whole()) return past;
  const int64_t R = past.keys.length.elements();
  const int32_t* length = past.keys.length.as<int32_t>();
  const auto all = past.keys.table.view<int32_t>();
  const auto first = [&](int64_t r) { return memory.block > 0 ? (length[r] - 1) / memory.block * memory.block : 0; };
  Past part;
  std::vector<int32_t> lengths;
  for (int64_t r = 0; r < R; ++r) {
    lengths.push_back(strides_in(length[r] - first(r), memory.stride));
    part.longest = std::max<int64_t>(part.longest, lengths.back());
  }
  std::vector<int32_t> table(size_t(R * part.longest));
  for (int64_t r = 0; r < R; ++r)
    for (int64_t t = 0; t < lengths[size_t(r)]; ++t)
      table[size_t(r * part.longest + t)] = all(r, first(r) + t * memory.stride);
  part.keys = {.length = int_tensor(std::move(lengths), {R}), .table = int_tensor(std::move(table), {R, part.longest})};
  return part;
}

Compression Compression::make(Parameters& p, const std::string& name, int64_t keys, int64_t values, int stride) {
  return {Linear::make(p, {name + ".key_convolution"}, {keys}, stride * keys),
          Linear::make(p, {name + ".value_convolution"}, {values}, stride * values), stride};
}

Compression::Result Compression::operator()(Context& cx, const Var& k, const Var& v, const Spans& spans) const {
  return {key(cx, strided_windows(cx, k, spans, stride)), value(cx, strided_windows(cx, v, spans, stride))};
}

void Compression::step(Context& cx, const Tensor& cache, const StepKeys& past) const {
  const auto table = past.table.view<int32_t>();
  std::vector<int32_t> windows, into;  // cache rows
  for (int64_t r = 0; r < table.rows; ++r) {
    const int64_t position = past.length.as<int32_t>()[r] - 1;
    if (position % stride != 0) continue;
    for (int64_t t = position - stride + 1; t <= position; ++t) windows.push_back(t < 0 ? -1 : table(r, t));
    into.push_back(table(r, position));
  }
  if (into.empty()) return;
  const auto M = int64_t(into.size());
  const Tensor of = int_tensor(std::move(windows), {M * stride, 1}), to = int_tensor(std::move(into), {M});
  const auto compress = [&](const Linear& convolution, int64_t from, int64_t count) {
    const Tensor part = cache.columns(from, count), window = cx.save({M, stride * count}, cache.dtype());
    cx.backend.mix_rows(window.reshaped({M * stride, count}), part, of, Tensor());
    cx.backend.scatter_rows(part, convolution(cx, Var(window)), to);
  };
  compress(key, 0, key.weight.rows());
  compress(value, key.weight.rows(), value.weight.rows());
}

}  // namespace dragoman
