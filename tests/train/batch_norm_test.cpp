#include <gmock/gmock.h>

#include "tests/comm/on_ranks.h"
#include "tests/threads.h"
#include "tests/train/toy_run.h"
#include "train/learner.h"

namespace dragoman {
namespace {

using Statistics = std::vector<std::vector<float>>;

// What the running statistics of a new model are after one batch of 4,096 words.
Statistics after_a_batch(int threads, bool kept_apart = false) {
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
  ShardStatistics apart(model->parameters());
  if (kept_apart) learner.statistics = &apart;
  learner.begin_update();
  if (kept_apart) apart.begin_update();
  learner.learn(batch, 1);
  if (kept_apart) apart.apply(*single_process());
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

TEST(ShardStatistics, AreThoseOfMicroBatchesOneAfterTheOther) {
  const Statistics directly = after_a_batch(1), apart = after_a_batch(1, true);
  for (size_t i = 0; i < apart.size(); ++i)
    EXPECT_THAT(apart[i], testing::Pointwise(testing::FloatNear(1e-6), directly[i]));
}

// Values and momentum by hand: 1, then a tenth of the way to 3, then to 2; a micro-batch that adds nothing; then to 5.
TEST(ShardStatistics, AreAppliedInTheOrderOfRanksAndBeginAgainIfTheUpdateDoes) {
  on_ranks(2, [](Communicator& ranks) {
    Arena arena;
    Parameters parameters(backend("cpu"), arena, DType::f32);
    const Tensor statistic = parameters.statistic({"mean", 1, Init::ones()});
    parameters.initialise(1);
    ShardStatistics statistics(parameters);
    const auto micro_batch = [&](float added) {
      statistics.begin_micro_batch();
      statistic.as<float>()[0] += added;
      statistics.end_micro_batch();
    };
    statistics.begin_update();
    micro_batch(7);
    statistics.begin_update();
    if (ranks.rank() == 0) {
      micro_batch(0.3f);
      micro_batch(0.2f);
    } else {
      micro_batch(0);
      micro_batch(0.5f);
    }
    statistics.apply(ranks);
    EXPECT_FLOAT_EQ(statistic.as<float>()[0], ((1 * 0.9f + 0.3f) * 0.9f + 0.2f) * 0.9f + 0.5f);
  });
}

}  // namespace
}  // namespace dragoman
