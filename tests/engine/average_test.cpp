#include "dragoman/average.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/file.h"
#include "dragoman/engine.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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

TEST(AverageModels, RefusesToOverwriteAModelThatItReads) {
  const TemporaryFolder folder;
  Engine engine({.threads = 1});
  const std::string a = save_toy_model(folder / "a", 1), b = save_toy_model(folder / "b", 2), before = read_file(b);
  EXPECT_THAT(
      [&] {
        average_models(engine, {b, {a, b}});
      },
      ThrowsMessage<Error>(HasSubstr("--output and --models are both " + b)));
  EXPECT_EQ(read_file(b), before);
}

TEST(AverageModels, RefusesNoModels) {
  const TemporaryFolder folder;
  Engine engine({.threads = 1});
  EXPECT_THROW(average_models(engine, {folder / "mean", {}}), Error);
}

}  // namespace
}  // namespace dragoman
