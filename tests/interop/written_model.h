#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/load_model.h"
#include "tests/error_of.h"
#include "tests/interop/score_difference.h"

namespace dragoman {

/// With the scores that the model itself gives, so that another one is compared with it.
inline std::vector<ReferenceScore> pairs_of(const ModelFile& model) {
  const int eos = model.config().special.eos, pieces = model.config().target_vocabulary;
  std::vector<ReferenceScore> pairs;
  for (int first = 3; first + 4 < pieces && first < 40; first += 7)
    pairs.push_back({{first, first + 2, first + 1, eos}, {first + 3, first, eos}, 0});
  for (ReferenceScore& pair : pairs) {
    Arena arena;
    const LoadedModel loaded = load_model(model, backend("cpu"), arena);
    Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
    const Batch batch{{pair.source, Spans::of_lengths({int32_t(pair.source.size())})},
                      {pair.target, Spans::of_lengths({int32_t(pair.target.size())})},
                      {0}};
    const Tensor log_prob = loaded.model->loss(cx, batch, 0).log_prob;
    for (size_t t = 0; t < pair.target.size(); ++t) pair.score += log_prob.as<float>()[t];
  }
  return pairs;
}

using Write = void (*)(const ModelFile& model, const std::string& folder);

inline std::string complaint(Write write, const ModelFile& model, const std::string& folder) {
  return error_of([&] { write(model, folder); });
}

/// All bytes of a tensor that has the same name in both.
inline void expect_same_weights(const ModelFile& a, const ModelFile& b) {
  for (const TensorEntry& t : a.tensors().tensors()) {
    if (t.name.starts_with("vocabulary.")) continue;
    const TensorEntry* other = b.tensors().find(t.name);
    ASSERT_NE(other, nullptr) << t.name;
    EXPECT_EQ(t.dtype, other->dtype) << t.name;
    EXPECT_TRUE(std::ranges::equal(t.bytes, other->bytes)) << t.name;
  }
}

}  // namespace dragoman
