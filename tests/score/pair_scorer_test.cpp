#include "score/pair_scorer.h"

#include <gmock/gmock.h>

#include "backend/backend.h"
#include "data/pairs.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// Finite weights pass the check on load, but their products overflow.
TEST(PairScorer, RefusesNaNAndNamesLineAndModel) {
  const TemporaryFolder files;
  const std::string path = files / "large.safetensors";
  Arena arena;
  const auto model = toy_model(arena, 1);
  for (const auto& p : model->parameters().named())
    if (p.name == "encoder.0.self_attention_norm.weight") backend("cpu").fill(p.value, 2e38);
  save_model(path, toy_config(), {toy_vocabulary(), toy_vocabulary()}, weights_of(model->parameters()));
  PairScorer scorer(path, {}, backend("cpu"));
  try {
    scorer.score({{"one"}, {"two"}}, {.target = "t", .lines_before = 4}).all();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "t, line 5: " + path + " gives NaN: its weights are damaged, or its training diverged");
    EXPECT_THAT(error.hint(), HasSubstr("use an earlier checkpoint"));
  }
}

}  // namespace
}  // namespace dragoman
