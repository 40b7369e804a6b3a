#include <gmock/gmock.h>

#include <limits>

#include "tests/train/small_gpu.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

/// Backends of which one has memory of its own, so that a run does not wait for an update before it begins the next.
/// The loss of one update is not a number.
class RunAhead : public testing::Test {
 protected:
  static inline int64_t losses = 0, bad = 0;  // computed so far, the one that is none
  static inline int64_t late = 0;             // numbers that were asked for when losses were computed after them

  static void sum(Grad total, const Tensor& x) {
    dragoman::backend("cpu").sum(total, x);
    if (++losses == bad) *total.tensor.as<double>() = std::numeric_limits<double>::quiet_NaN();
  }
  static NumberToCome send(const double* number) {
    return [value = *number, then = losses] {
      late += losses > then;
      return value;
    };
  }
  static const Backend& host() {
    static const Backend it = [] {
      Backend b = dragoman::backend("cpu");
      b.sum = sum;
      return b;
    }();
    return it;
  }
  static const Backend& gpu() {
    static const DeviceMemory memory = [] {
      DeviceMemory m = *SmallGpu::backend().memory;
      m.send = send;
      return m;
    }();
    static const Backend it = [] {
      Backend b = host();
      b.memory = &memory;
      return b;
    }();
    return it;
  }

  struct Result {
    std::string state, model, log;
    Progress progress;
    int64_t late;
  };
  // Two calls: the second goes on where the first has ended.
  Result train(const Backend& backend, const std::function<void(TrainingSetup&)>& options = {}) {
    losses = late = 0;
    ToyRun run;
    run.setup.optimizer.clip_norm = 0.5;
    if (options) options(run.setup);
    Result result;
    for (const int64_t updates : {9, 16}) {
      run.setup.training.after = {{updates, Frequency::updates}};
      Trainer trainer(run.setup, backend);
      trainer.run();
      result.progress = trainer.progress();
    }
    return {run.state_bytes(), run.model_bytes(), run.log.text(), result.progress, late};
  }
  // Whether all is as without running ahead; how many numbers came late.
  int64_t expect_the_same(const std::function<void(TrainingSetup&)>& options = {}) {
    const Result one_by_one = train(host(), options), ahead = train(gpu(), options);
    EXPECT_TRUE(ahead.state == one_by_one.state);
    EXPECT_TRUE(ahead.model == one_by_one.model);
    EXPECT_EQ(ahead.progress.skipped, bad > 0 ? 1 : 0);
    EXPECT_EQ(one_by_one.late, 0);
    return ahead.late;
  }

  RunAhead() {
    SmallGpu::free = SmallGpu::there = int64_t{1} << 40;
    bad = 0;
  }
};

// Two numbers an update: all come late but those of the last one of a call.
TEST_F(RunAhead, ComesToTheSameBits) { EXPECT_EQ(expect_the_same(), 2 * (8 + 6)); }

TEST_F(RunAhead, ComesToTheSameBitsWhereAnUpdateIsSkipped) {
  bad = 5;
  EXPECT_LT(expect_the_same(), 2 * (8 + 6)) << "the update after it is waited for";
  EXPECT_THAT(train(gpu()).log, testing::HasSubstr("update 5 skipped: its loss or gradient is not finite (loss)"));
}

TEST_F(RunAhead, ComesToTheSameBitsWithAllThatLooksAtARun) {
  bad = 11;
  EXPECT_GT(expect_the_same([](TrainingSetup& setup) {
              setup.optimizer.exponential_smoothing = 0.1;
              setup.optimizer.optimizer_delay = 2;
              setup.training.disp_freq = {3, Frequency::updates};
              setup.training.save_freq = {4, Frequency::updates};
              setup.training.valid_freq = {5, Frequency::updates};
            }),
            0);
}

// Their next update begins with what the last one said.
TEST_F(RunAhead, IsNotForHardAttentionNorForAveragedStatistics) {
  EXPECT_EQ(expect_the_same([](TrainingSetup& setup) {
              setup.model.type = "s2s";
              setup.model.heads = 1;
              setup.model.attention_choice = AttentionKind::hard;
            }),
            0);
  EXPECT_EQ(expect_the_same([](TrainingSetup& setup) {
              setup.model.norm_kind = NormKind::batch;
              setup.optimizer.exponential_smoothing = 0.1;
            }),
            0);
}

}  // namespace
}  // namespace dragoman
