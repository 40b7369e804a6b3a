#include <gmock/gmock.h>

#include <limits>

#include "backend/backend.h"
#include "tests/train/small_gpu.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Backends of which one has memory of its own, so that a run does not wait for an update before it begins the next.
/// Some losses are no numbers, and one gradient.
class RunAhead : public testing::Test {
 protected:
  static inline int64_t losses = 0, bad = 0, last_bad = 0;  // computed so far, those that are none
  static inline int64_t gradients = 0, bad_gradient = 0;    // likewise
  static inline int64_t late = 0;  // numbers that were asked for when losses were computed after them

  static void sum(Grad total, const Tensor& x) {
    dragoman::backend("cpu").sum(total, x);
    ++losses;
    if (losses >= bad && losses <= last_bad) *total.tensor.as<double>() = not_a_number;
  }
  static void sum_of_squares(const Tensor& total, std::span<const Tensor> tensors) {
    if (tensors.size() > 1 && ++gradients == bad_gradient) tensors[0].as<float>()[0] = not_a_number;
    dragoman::backend("cpu").sum_of_squares(total, tensors);
  }
  static PendingBytes send(const void* from, int64_t bytes) {
    return [values = SmallGpu::send(from, bytes), then = losses](void* to) {
      late += losses > then;
      values(to);
    };
  }
  static const Backend& host() {
    static const Backend it = [] {
      Backend b = dragoman::backend("cpu");
      b.multiplies_bfloat16 = false;  // float32 on any machine
      b.sum = sum;
      b.sum_of_squares = sum_of_squares;
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
  // Two calls: the second resumes where the first has ended.
  Result train(const Backend& backend, const std::function<void(TrainingSetup&)>& options = {}) {
    losses = gradients = late = 0;
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
    EXPECT_EQ(ahead.progress.skipped, one_by_one.progress.skipped);
    EXPECT_EQ(ahead.progress.rollbacks, one_by_one.progress.rollbacks);
    EXPECT_EQ(one_by_one.late, 0);
    return ahead.late;
  }

  RunAhead() {
    SmallGpu::free = SmallGpu::there = int64_t{1} << 40;
    bad = last_bad = bad_gradient = 0;
  }
};

// Two numbers an update: all come late but those of the last one of a call.
TEST_F(RunAhead, ComesToTheSameBits) { EXPECT_EQ(expect_the_same(), 2 * (8 + 6)); }

TEST_F(RunAhead, ComesToTheSameBitsWhereAnUpdateIsSkipped) {
  bad = last_bad = 5;
  EXPECT_LT(expect_the_same(), 2 * (8 + 6)) << "the update after it is waited for";
  EXPECT_THAT(train(gpu()).log, HasSubstr("update 5 skipped: its loss or gradient is not finite (loss) (1 in a row"));
}

// The loss of an update says nothing of the next one's. A gradient is gone when it is known to be bad, unless somebody
// has asked before the next update.
TEST_F(RunAhead, NamesTheFirstNonfiniteValueOfEachUpdate) {
  bad = last_bad = 5, bad_gradient = 6;
  EXPECT_THAT(train(gpu()).log, AllOf(HasSubstr("update 5 skipped: its loss or gradient is not finite (loss) (1 in"),
                                      HasSubstr("update 6 skipped: its loss or gradient is not finite (gradient of")));
  bad = last_bad = 0;
  EXPECT_THAT(train(gpu()).log, HasSubstr("update 6 skipped: its loss or gradient is not finite (1 in"));
  EXPECT_THAT(train(gpu(),
                    [](TrainingSetup& setup) {
                      setup.training.disp_freq = {1, Frequency::updates};
                    })
                  .log,
              HasSubstr("update 6 skipped: its loss or gradient is not finite (gradient of"));
}

TEST_F(RunAhead, RollsBackToTheSameCheckpoint) {
  bad = 6, last_bad = 8;
  expect_the_same([](TrainingSetup& setup) {
    setup.training.save_freq = {4, Frequency::updates};
    setup.training.max_skipped = 3;
  });
}

TEST_F(RunAhead, IsNotForARunThatOneSkippedUpdateEnds) {
  EXPECT_EQ(expect_the_same([](TrainingSetup& setup) { setup.training.max_skipped = 1; }), 0);
}

TEST_F(RunAhead, GivesTheSameBitsWithEveryObserver) {
  bad = last_bad = 11;
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
              setup.model.type = ModelType::s2s;
              setup.model.heads = 1;
              setup.model.attention.choice = AttentionKind::hard;
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
