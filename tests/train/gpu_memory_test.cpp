#include <gmock/gmock.h>

#include <filesystem>

#include "tests/comm/on_ranks.h"
#include "tests/train/small_gpu.h"
#include "tests/train/toy_run.h"
#include "train/prepare.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t MiB = int64_t{1} << 20;

// A whole batch needs 66 MiB, a half of it 39, and a GPU's memory is taken in steps of 32.
class GpuMemory : public testing::Test {
 protected:
  GpuMemory() : run(2000) {
    run.setup.model.dim = 128;
    run.setup.model.feed_forward = 1024;
    run.setup.data.mini_batch_words = 2000;
    has(plenty);
  }
  void has(int64_t bytes) { SmallGpu::free = SmallGpu::there = bytes; }
  MemoryPlan plan() { return plan(*single_process()); }
  MemoryPlan plan(Communicator& ranks) {
    const Vocabularies vocabularies = open_vocabularies(run.setup);
    const auto corpus = read_corpus(training_files(run.setup.data, vocabularies.source, vocabularies.target, 1));
    prepare(run.setup, SmallGpu::backend(), vocabularies, ranks.size());
    return resolve_settings(run.setup, SmallGpu::backend(), *corpus, ranks);
  }
  // Until `updates` in all; the loss of a label, averaged over updates.
  double train(int64_t updates) {
    run.log.clear();
    run.setup.training.after = {{updates, Frequency::updates}};
    Trainer trainer(run.setup, SmallGpu::backend());
    trainer.run();
    return trainer.model().baseline().value;
  }
  double train_anew(int64_t updates) {
    run.setup.training.no_reload = true;
    return train(updates);
  }

  static constexpr int64_t plenty = int64_t{1} << 40;
  ToyRun run;
};

TEST_F(GpuMemory, HoldsABatchWhole) { EXPECT_GT(plan().rows, 1900); }

TEST_F(GpuMemory, ThatIsTooSmallForABatchHoldsHalvesOfIt) {
  const MemoryPlan whole = plan();
  const double loss = train_anew(3);
  has(64 * MiB);
  const MemoryPlan halves = plan();
  EXPECT_EQ(halves.rows, whole.rows / 2);
  EXPECT_GT(whole.peak, 64 * MiB);
  EXPECT_LE(halves.peak, 64 * MiB);
  EXPECT_NEAR(train_anew(3), loss, 1e-5);
}

TEST_F(GpuMemory, ThatHoldsNoPartIsAnErrorWithARemedy) {
  has(8 * MiB);
  EXPECT_THAT(message_of([&] { plan(); }), AllOf(HasSubstr("but the GPU has 8 MiB"), HasSubstr("--mini-batch-words")));
}

// Somebody else takes some after the run was planned.
TEST_F(GpuMemory, ThatRunsOutMakesTheUpdateBeginAgainInHalves) {
  const double loss = train_anew(3);
  SmallGpu::there = 64 * MiB;
  EXPECT_NEAR(train_anew(3), loss, 1e-5);
  EXPECT_THAT(run.log.text(),
              AllOf(HasSubstr("update 1: out of memory: a tensor "), HasSubstr("does not fit into 64 MiB"),
                    HasSubstr("from now on, micro-batches have at most 999 tokens on a side"),
                    HasSubstr("finished after 3 updates")));
}

TEST_F(GpuMemory, ThatRunsOutForTheModelEndsTheRun) {
  SmallGpu::there = 0;
  EXPECT_THAT(message_of([&] { train_anew(3); }), HasSubstr("out of memory"));
}

TEST_F(GpuMemory, HoldsNoSecondCopyOfWeightsToValidate) {
  run.setup.training.after = {{1, Frequency::updates}};
  Trainer trainer(run.setup, SmallGpu::backend());
  EXPECT_TRUE(trainer.model().parameters().pack().empty());
}

// Training fits, but the translations that BLEU needs do not.
TEST_F(GpuMemory, ThatIsTooLittleToTranslateCostsAMetricAndNotTheRun) {
  TrainingOptions& o = run.setup.training;
  o.valid_metrics = {ValidMetric::bleu, ValidMetric::cross_entropy};
  o.valid_freq = {1, Frequency::updates};
  o.valid_beam_size = 200;
  run.setup.data.mini_batch_words = 20;
  SmallGpu::there = (plan().peak + 32 * MiB - 1) / (32 * MiB) * 32 * MiB;
  train_anew(2);
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("validation: out of memory: a tensor "),
                                    HasSubstr("translating the validation set; training continues without its values"),
                                    HasSubstr("cross-entropy"), HasSubstr("finished after 2 updates")));
  EXPECT_TRUE(std::filesystem::exists(o.model));
}

TEST_F(GpuMemory, DecidesTheSizeOfBatchesThatAreToFit) {
  run.setup.data.mini_batch_fit = true;
  has(66 * MiB);
  EXPECT_LE(plan().peak, 66 * MiB);
  const int64_t words = run.setup.data.mini_batch_words;
  EXPECT_GT(words, 1800);
  run.setup.data.mini_batch_fit = false;
  run.setup.data.mini_batch_words = words * 106 / 100;
  EXPECT_LT(plan().rows, words) << "a little more does not go whole";
}

TEST_F(GpuMemory, OfAnySizeHoldsNoMoreThanThereIs) {
  run.setup.data.mini_batch_fit = true;
  const Vocabularies vocabularies = open_vocabularies(run.setup);
  const auto corpus = read_corpus(training_files(run.setup.data, vocabularies.source, vocabularies.target, 1));
  plan();
  EXPECT_EQ(run.setup.data.mini_batch_words, corpus->pairs.target_tokens());
}

// What one GPU holds in halves, or in smaller batches, the others compute likewise, though they have room.
TEST_F(GpuMemory, OfTheSmallestGpuDecidesForAllRanks) {
  for (const bool fit : {false, true})
    on_ranks(2, [&](Communicator& ranks) {
      run.setup.data.mini_batch_fit = fit;
      const MemoryPlan whole = plan(ranks);
      const int64_t words = run.setup.data.mini_batch_words;
      if (ranks.rank() == 1) has(whole.peak - MiB);
      const MemoryPlan here = plan(ranks);
      if (fit)
        EXPECT_LT(run.setup.data.mini_batch_words, words);
      else
        EXPECT_EQ(here.rows, whole.rows / 2);
      const auto decided = ranks.gather(fmt::format("{} {}", run.setup.data.mini_batch_words, here.rows));
      if (ranks.rank() == 0) {
        EXPECT_EQ(decided[0], decided[1]);
      }
    });
}

TEST_F(GpuMemory, DecidesItOnceARun) {
  run.setup.data.mini_batch_fit = true;
  has(66 * MiB);
  train(2);
  EXPECT_THAT(run.log.text(), HasSubstr(" target tokens fit into memory"));
  has(plenty);
  train(4);
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr(" target tokens as before"), Not(HasSubstr("order of batches"))));
}

}  // namespace
}  // namespace dragoman
