#include <gmock/gmock.h>

#include "tests/threads.h"
#include "tests/train/toy_run.h"
#include "train/learner.h"

namespace dragoman {
namespace {

using Statistics = std::vector<std::vector<float>>;

// What the running statistics of a new model are after one batch of 4,096 words.
Statistics after_a_batch(int threads) {
  const Threads count(threads);
  ToyRun run(2000);
  run.setup.data.mini_batch_words = 4096;
  run.setup.model.norm_kind = NormKind::batch;
  const Vocabularies vocabularies = open_vocabularies(run.setup);
  run.setup.model.source_vocabulary = run.setup.model.target_vocabulary = vocabularies.source.size();
  const auto corpus = read_corpus(training_files(run.setup.data, vocabularies.source, vocabularies.target, 1));
  const Batch batch = assemble(*corpus, plan_batches(*corpus, run.setup.data, 1, 0)[0]);
  EXPECT_GT(batch.target.ids.size(), 3000u);
  Arena arena;
  const auto model = make_model(run.setup.model, backend("cpu"), arena, DType::f32, true);
  model->parameters().initialise(1);
  Learner learner(backend("cpu"), arena, *model, run.setup, rows_at_once());
  learner.begin_update();
  learner.learn(batch, 1);
  Statistics statistics;
  for (const auto& p : model->parameters().named())
    if (!p.trained) statistics.emplace_back(p.value.as<float>(), p.value.as<float>() + p.value.elements());
  return statistics;
}

// Eight threads would take such a batch whole.
TEST(BatchNorms, TakeTheSameStatisticsWhateverTheNumberOfThreads) {
  const Statistics one = after_a_batch(1), eight = after_a_batch(8);
  ASSERT_FALSE(one.empty());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_THAT(eight[i], testing::Pointwise(testing::FloatNear(1e-4), one[i]));
  EXPECT_THAT(one[0], testing::Not(testing::Contains(0))) << "running means have moved";
}

}  // namespace
}  // namespace dragoman
