#pragma once
#include <memory>
#include <vector>

#include "base/philox.h"
#include "data/corpus.h"

namespace dragoman {

/// A corpus without files: pair i has lengths[i] = {source, target} tokens, the last of them </s> (id 2). All other ids
/// of a sentence are 100 + i, so that a test sees which pair it came from; line numbers are 10 i.
inline std::shared_ptr<Corpus> toy_corpus(const std::vector<std::array<int, 2>>& lengths) {
  auto corpus = std::make_shared<Corpus>();
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::array<std::vector<int32_t>, 2> ids;
    for (int side : {0, 1}) {
      ids[side].assign(lengths[i][side] - 1, int32_t(100 + i));
      ids[side].push_back(2);
    }
    corpus->pairs.add({int32_t(10 * i), ids[0], ids[1]});
  }
  return corpus;
}

/// Pairs of 2 to 40 tokens a side.
inline std::shared_ptr<Corpus> random_corpus(int pairs) {
  PhiloxSequence numbers(11, 0);
  std::vector<std::array<int, 2>> lengths;
  for (int i = 0; i < pairs; ++i) lengths.push_back({2 + int(numbers.below(39)), 2 + int(numbers.below(39))});
  return toy_corpus(lengths);
}

}  // namespace dragoman
