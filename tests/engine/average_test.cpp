#include "dragoman/average.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "dragoman/engine.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

std::vector<float> weights(const ModelFile& file) {
  Arena arena;
  const auto model = make_model(file.config(), backend("cpu"), arena, DType::f32, false);
  file.load_weights(model->parameters());
  std::vector<float> all;
  for (const auto& named : model->parameters().named())
    all.insert(all.end(), named.value.as<float>(), named.value.as<float>() + named.value.elements());
  return all;
}

TEST(AverageModels, SavesTheMeanOfTwoModels) {
  const TemporaryFolder folder;
  Engine engine({.threads = 1});
  const AverageOptions options{folder / "mean", {save_toy_model(folder / "a", 1), save_toy_model(folder / "b", 2)}};
  average_models(engine, options);
  const auto mean = weights(ModelFile(options.output));
  const auto a = weights(ModelFile(options.models[0])), b = weights(ModelFile(options.models[1]));
  ASSERT_NE(a, b);
  ASSERT_EQ(mean.size(), a.size());
  for (size_t i = 0; i < mean.size(); ++i) EXPECT_EQ(mean[i], float((double(a[i]) + double(b[i])) / 2));
}

TEST(AverageModels, RefusesNoModels) {
  const TemporaryFolder folder;
  Engine engine({.threads = 1});
  EXPECT_THROW(average_models(engine, {folder / "mean", {}}), Error);
}

}  // namespace
}  // namespace dragoman
