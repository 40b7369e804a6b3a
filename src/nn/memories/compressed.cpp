#include "backend/backend.h"
#include "nn/memories/memory.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// Memory-compressed attention (Liu et al. 2018, section 4.2.4): a convolution of width s compresses every s keys into
// one, and values likewise. k'_c = W [k_cs-s+1; …; k_cs] + b, with zeros before the first position. Key c has position
// c·s, so no query sees a key that contains later tokens.
class CompressedMemory : public KeyMemory {
 public:
  CompressedMemory(Linear key, Linear value, int stride)
      : key_(std::move(key)), value_(std::move(value)), stride_(stride) {}

  Seen see(Context& cx, const Var& k, const Var& v, const SelfRows& rows) const override {
    std::vector<int32_t> lengths;  // incomplete windows included
    for (int s = 0; s < rows.spans.sentences(); ++s)
      lengths.push_back(int32_t((rows.spans[s].end - rows.spans[s].begin + stride_ - 1) / stride_));
    const Seen seen{rows.spans, Spans::of_lengths(lengths), key_(cx, strided_windows(cx, k, rows.spans, stride_)),
                    value_(cx, strided_windows(cx, v, rows.spans, stride_)), stride_};
    if (rows.cache) cache(cx, seen, rows);
    return seen;
  }

  // A row that completes a window gets the compressed key and value in place of its own, which no later step reads.
  Past see_step(Context& cx, const Tensor& cache, const Past& past) const override {
    const auto table = past.keys.table.view<int32_t>();
    std::vector<int32_t> windows, into;  // cache rows
    for (int64_t r = 0; r < table.rows; ++r) {
      const int64_t position = past.keys.length.as<int32_t>()[r] - 1;
      if (position % stride_ != 0) continue;
      for (int64_t t = position - stride_ + 1; t <= position; ++t) windows.push_back(t < 0 ? -1 : table(r, t));
      into.push_back(table(r, position));
    }
    if (!into.empty()) compress(cx, cache, std::move(windows), std::move(into));
    return part_of(past, stride_, [](int64_t) { return 0; });
  }

 private:
  // A compressed key is in the cache at its position, in place of the last key that it contains.
  void cache(Context& cx, const Seen& seen, const SelfRows& rows) const {
    std::vector<int32_t> into;
    for (int s = 0; s < rows.spans.sentences(); ++s)
      for (int64_t n = rows.spans[s].begin; n < rows.spans[s].end; n += stride_)
        into.push_back(rows.cached.as<int32_t>()[n]);
    cache_rows(cx, rows.cache, int_tensor(std::move(into), {seen.k.rows()}), seen.k, seen.v);
  }

  void compress(Context& cx, const Tensor& cache, std::vector<int32_t> windows, std::vector<int32_t> into) const {
    const auto M = int64_t(into.size());
    const Tensor from = int_tensor(std::move(windows), {M * stride_, 1}), to = int_tensor(std::move(into), {M});
    const auto compress_columns = [&](const Linear& convolution, int64_t first, int64_t count) {
      const Tensor part = cache.columns(first, count), window = cx.save({M, stride_ * count}, cache.dtype());
      cx.backend.mix_rows(window.reshaped({M * stride_, count}), part, from, Tensor());
      cx.backend.scatter_rows(part, convolution(cx, Var(window)), to);
    };
    compress_columns(key_, 0, key_.weight.rows());
    compress_columns(value_, key_.weight.rows(), value_.weight.rows());
  }

  const Linear key_, value_;  // (H*K,s·H*K) (H*V,s·H*V)
  const int stride_;          // s
};

}  // namespace

std::shared_ptr<const KeyMemory> make_compressed_memory(Parameters& p, const std::string& name,
                                                        const AttentionDesign& d) {
  const int64_t keys = int64_t{d.sizes.heads} * d.sizes.key, values = int64_t{d.sizes.heads} * d.sizes.value;
  const int s = d.memory.stride;
  Linear key = Linear::make(p, {name + ".key_convolution"}, {keys}, s * keys);
  Linear value = Linear::make(p, {name + ".value_convolution"}, {values}, s * values);
  return std::make_shared<CompressedMemory>(std::move(key), std::move(value), s);
}

}  // namespace dragoman
