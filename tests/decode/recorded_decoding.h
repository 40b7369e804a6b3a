#pragma once
#include <gtest/gtest.h>

#include <random>

#include "backend/backend.h"
#include "backend/registry.h"
#include "decode/beam_search.h"
#include "tests/model/golden_file.h"
#include "tests/op_check/gpu.h"

namespace dragoman {

using Sources = std::vector<std::vector<int32_t>>;

inline Backend without_recordings(const Backend& b) {
  Backend plain = b;
  plain.recorder = nullptr;
  return plain;
}

/// The GPU kernels on the host, whose products do not depend on the number of rows: replayed recordings compute the
/// same as direct calls of their kernels, bit for bit.
class RecordedDecoding : public testing::Test {
 protected:
  RecordedDecoding() {
    const auto on_host = make_model(golden.config(), backend("cpu"), host_arena, DType::f32, false);
    golden.load_parameters(on_host->parameters());
    const auto to = model->parameters().named(), from = on_host->parameters().named();
    for (size_t i = 0; i < to.size(); ++i) to[i].value.assign(from[i].value);
    packed = model->parameters().pack(DType::f32);
  }

  Sources sources(size_t count, size_t longest) const {
    std::mt19937 random(5);
    Sources all(count);
    for (auto& source : all) {
      source.resize(1 + random() % longest);
      for (int32_t& id : source) id = int32_t(3 + random() % size_t(golden.config().source_vocabulary - 3));
    }
    return all;
  }
  std::vector<std::vector<Hypothesis>> find(const Backend& b, const SearchOptions& options, const Sources& some,
                                            int64_t tokens, const Shortlist* shortlist = nullptr) {
    Context cx{.backend = b, .arena = arena, .packed = &packed};
    return beam_search(cx, *model, options, tokens, some, shortlist);
  }
  DeviceCounts counts() const { return device.memory->counts(); }

  GoldenFile golden{"pre_norm"};
  const Backend &device = gpu_on_host(), plain = without_recordings(device);
  Arena host_arena, arena{*device.memory};
  std::unique_ptr<Model> model = make_model(golden.config(), device, arena, DType::f32, false);
  PackedWeights packed;
};

}  // namespace dragoman
