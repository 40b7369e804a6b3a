#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "backend/registry.h"
#include "decode/beam_search.h"
#include "tests/model/golden_file.h"
#include "tests/special_ids.h"
#include "tests/threads.h"

namespace dragoman {
namespace {

struct Case {
  const char* model;  // of tests/golden
  DType packed = DType::f32;
  Sampling sampling = Sampling::none;
  bool shortlist = false;
  bool distances = false;  // random weights with vectors of distances for keys and values
};

// A Transformer and 200 sentences of its pieces. Results must be identical, to the last bit of every log-probability,
// however sentences are batched.
class Independence : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (GetParam().distances)
      model->parameters().initialise(1);
    else
      golden.load_parameters(model->parameters());
    packed = model->parameters().pack(GetParam().packed);
    std::mt19937 random(5);
    for (int i = 0; i < 200; ++i) {
      std::vector<int32_t> source(1 + random() % 20);
      for (int32_t& id : source) id = int32_t(3 + random() % (model->config().source_vocabulary - 3));
      sources.push_back(std::move(source));
    }
    shortlist = some_pieces(random);
    expected = find(1, sources);
  }

  std::vector<std::vector<Hypothesis>> find(int64_t tokens, const std::vector<std::vector<int32_t>>& some) {
    const SearchOptions options{
        .beam_size = 4, .max_length_add = 10, .n_best = 4, .sampling = GetParam().sampling, .sampling_pieces = 20};
    return beam_search(cx, *model, options, tokens, some, GetParam().shortlist ? &shortlist : nullptr);
  }
  ModelConfig config() const {
    ModelConfig c = golden.config();
    if (GetParam().distances) c.positions = Positions::relative, c.relative_positions = 3, c.relative_values = true;
    return c;
  }
  // Two target pieces for each source piece.
  Shortlist some_pieces(std::mt19937& random) const {
    Shortlist s{.first = {eos_id}, .begins = {0}, .target_vocabulary = model->config().target_vocabulary};
    for (int piece = 0; piece < model->config().source_vocabulary; ++piece) {
      for (int i = 0; i < 2; ++i) s.best.push_back(int32_t(3 + random() % uint32_t(s.target_vocabulary - 3)));
      s.begins.push_back(int32_t(s.best.size()));
    }
    return s;
  }

  GoldenFile golden{GetParam().model};
  Arena arena;
  std::unique_ptr<Model> model = make_model(config(), backend("cpu"), arena, DType::f32, false);
  PackedWeights packed;
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &packed};
  std::vector<std::vector<int32_t>> sources;
  Shortlist shortlist;
  std::vector<std::vector<Hypothesis>> expected;  // each sentence alone
};

TEST_P(Independence, OfTheBatch) {
  EXPECT_EQ(find(300, sources), expected);
  EXPECT_EQ(find(1 << 20, sources), expected);
}

/// Not of samples: draws are keyed by the number of the line.
class SearchIndependence : public Independence {};

TEST_P(SearchIndependence, OfTheOrder) {
  std::reverse(sources.begin(), sources.end());
  auto found = find(2048, sources);
  std::reverse(found.begin(), found.end());
  EXPECT_EQ(found, expected);
}

TEST_P(Independence, OfTheThreads) {
  for (const int n : {1, 3}) {
    const Threads count(n);
    EXPECT_EQ(find(2048, sources), expected);
  }
}

const std::vector<Case> searches = {
    Case{"post_norm"},
    Case{"pre_norm"},
    Case{"learned_positions"},
    Case{"post_norm", DType::i8},
    Case{"pre_norm", DType::i8},
    Case{"learned_positions", DType::i8},
    Case{"post_norm", DType::f32, Sampling::none, true},
    Case{"pre_norm", DType::i8, Sampling::none, true},
    Case{.model = "pre_norm", .distances = true},
};
const std::vector<Case> samples = {
    Case{"post_norm", DType::f32, Sampling::full},
    Case{"pre_norm", DType::f32, Sampling::nucleus},
    Case{"pre_norm", DType::i8, Sampling::topk},
};
const auto name_of = [](const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return std::string(c.model) + (c.packed == DType::i8 ? "_int8" : "") + (c.shortlist ? "_shortlist" : "") +
         (c.distances ? "_distances" : "");
};

INSTANTIATE_TEST_SUITE_P(Searches, Independence, testing::ValuesIn(searches), name_of);
INSTANTIATE_TEST_SUITE_P(Searches, SearchIndependence, testing::ValuesIn(searches), name_of);
INSTANTIATE_TEST_SUITE_P(Samples, Independence, testing::ValuesIn(samples), name_of);

}  // namespace
}  // namespace dragoman
