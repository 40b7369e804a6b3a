#include <gmock/gmock.h>

#include "backend/backend.h"
#include "decode/beam_search.h"
#include "tests/align_pairs.h"
#include "tests/decode/aligned_search.h"
#include "tests/op_check/gpu.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::FloatNear;
using testing::IsEmpty;
using testing::Not;
using testing::Pointwise;

using Sources = std::vector<std::vector<int32_t>>;

/// Types of what a decoder's attention reads at each step.
struct Read {
  std::vector<DType> queries, keys, values;
};
Read read;

Backend watched(const Backend& b) {
  Backend watched = b;
  watched.attention_step = [](const Backend::AttentionStep& a) {
    read.queries.push_back(a.q.dtype()), read.keys.push_back(a.k.dtype()), read.values.push_back(a.v.dtype());
    gpu_on_host().attention_step(a);
  };
  return watched;
}

class HalfDecoding : public testing::TestWithParam<DType> {};

TEST_P(HalfDecoding, KeepsActivationsAndCachesOnADeviceIn16Bits) {
  const DType type = GetParam();
  const TemporaryFolder folder;
  const std::string path = save_toy_model(folder / "m.safetensors", 1);
  const Backend device = watched(gpu_on_host());
  Arena arena{*device.memory};
  const LoadedModel loaded = load_model(path, device, arena, type);
  ASSERT_TRUE(loaded.rounded);
  EXPECT_TRUE(loaded.packed.empty());
  read = {};
  Context cx{.backend = device, .arena = arena, .packed = &loaded.packed, .rounded = loaded.rounded.get()};
  beam_search(cx, *loaded.model, SearchOptions{.beam_size = 2, .max_length_add = 5}, 100,
              Sources{{5, 6, 7, 8}, {9, 10}});
  EXPECT_THAT(read.keys, Not(IsEmpty()));
  for (const auto& types : {read.queries, read.keys, read.values}) EXPECT_THAT(types, Each(type));
}

// From queries and keys in 16 bits, as the forced pass has them.
TEST_P(HalfDecoding, AlignsOnADeviceIn16Bits) {
  const TemporaryFolder folder;
  const std::string path = save_toy_model(folder / "m.safetensors", 1);
  const Backend& device = gpu_on_host();
  Arena arena{*device.memory};
  const LoadedModel loaded = load_model(path, device, arena, GetParam());
  Context cx{.backend = device, .arena = arena, .packed = &loaded.packed, .rounded = loaded.rounded.get()};
  const Sources sources = {{5, 6, 7, 8}, {9, 10}};
  const auto found =
      aligned_search(cx, *loaded.model, SearchOptions{.beam_size = 2, .max_length_add = 5, .n_best = 2}, 100, sources);
  const SentenceFrames frames = frames_of(loaded.model->config());
  for (size_t s = 0; s < sources.size(); ++s)
    for (size_t rank = 0; rank < 2; ++rank) {
      const IdPair pair(frames.source.around(sources[s]), target_of(found[s].best[rank], frames.target));
      const Alignment expected = align_pairs(cx, *loaded.model, {&pair, 1})[0];
      EXPECT_THAT(found[s].alignments[rank].weights, Pointwise(FloatNear(0.02f), expected.weights));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, HalfDecoding, testing::Values(DType::bf16, DType::f16),
                         [](const auto& info) { return info.param == DType::bf16 ? "bfloat16" : "float16"; });

}  // namespace
}  // namespace dragoman
