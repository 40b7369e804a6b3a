#include <gmock/gmock.h>

#include "backend/backend.h"
#include "decode/beam_search.h"
#include "tests/op_check/gpu.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Not;

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

INSTANTIATE_TEST_SUITE_P(Types, HalfDecoding, testing::Values(DType::bf16, DType::f16),
                         [](const auto& info) { return info.param == DType::bf16 ? "bfloat16" : "float16"; });

}  // namespace
}  // namespace dragoman
