#include <gmock/gmock.h>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t no_end = 1'000'000;

// 200 pairs in parts of 70, 70 and 60.
ToyRun& in_parts(ToyRun& run) {
  run.setup.data.stream = 70;
  return run;
}

TEST(Stream, EndsTheRunWithItsText) {
  ToyRun run;
  RunEnd::Reason reason = RunEnd::after;
  in_parts(run).setup.training.observer = [&](const RunMoment&, const RunEvent& event) {
    if (const auto* end = std::get_if<RunEnd>(&event)) reason = end->reason;
  };
  const Progress progress = run.train_until(no_end);
  EXPECT_EQ(progress.sentences, 200);
  EXPECT_EQ(progress.position, (Position{3, 0}));
  EXPECT_EQ(reason, RunEnd::end_of_text);
  EXPECT_THAT(run.log.text(),
              AllOf(HasSubstr("The text is a stream: an epoch is 70 lines of it, and training ends with it"),
                    HasSubstr("Epoch 2: "), HasSubstr("Epoch 3: "), HasSubstr("Training finished: the text has ended"),
                    Not(HasSubstr("this run has no end"))));
  const std::string model = run.model_bytes();
  EXPECT_EQ(run.train_until(no_end).updates, progress.updates) << "nothing is left";
  EXPECT_EQ(run.model_bytes(), model);
}

TEST(Stream, EndsInTheMiddleOfAnUpdate) {
  ToyRun run;
  in_parts(run).setup.optimizer.optimizer_delay = 1000;
  const Progress progress = run.train_until(no_end);
  EXPECT_EQ(progress.updates, 1);
  EXPECT_EQ(progress.sentences, 200);
}

TEST(Stream, ThatAnotherOneFollowsIsReadFromItsBeginning) {
  ToyRun straight, run;
  for (ToyRun* each : {&straight, &run}) {
    in_parts(*each).train_until(no_end);
    auto& sets = each->setup.data.train_sets;
    std::swap(sets[0], sets[1]);
    each->setup.training.no_restore_corpus = true;
  }
  EXPECT_EQ(straight.train_until(no_end).sentences, 400);
  // A stop in it and a call that restores the position give the same.
  run.train_until(30);
  run.setup.training.no_restore_corpus = false;
  run.train_until(no_end);
  EXPECT_TRUE(run.state_bytes() == straight.state_bytes());
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("Epoch 5: "), HasSubstr("Epoch 6: ")));
}

// As with OpusTrainer, which is started again with the run and continues its text.
TEST(Stream, ThatIsAnotherThanBeforeIsTakenAsItComes) {
  ToyRun run;
  in_parts(run).train_until(8);
  std::swap(run.setup.data.train_sets[0], run.setup.data.train_sets[1]);
  EXPECT_EQ(run.train_until(no_end).position, (Position{1 + 3, 0}));
  EXPECT_THAT(run.log.text(),
              HasSubstr("the training text or its encoding has changed: resuming at the beginning of epoch 2"));
}

// Other batches, the same text: no part of it is trained on twice.
TEST(Stream, ContinuesAtItsPartIfBatchesChange) {
  ToyRun run;
  in_parts(run).train_until(8);
  run.setup.data.mini_batch_words = 50;
  EXPECT_EQ(run.train_until(no_end).position, (Position{3, 0}));
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("the order of batches has changed"), HasSubstr("Epoch 3: "),
                                    Not(HasSubstr("Epoch 4: "))));
}

TEST(Stream, IsReadAgainIfItsPartsChange) {
  ToyRun run;
  in_parts(run).train_until(8);
  run.setup.data.stream = 100;
  EXPECT_EQ(run.train_until(no_end).position, (Position{1 + 2, 0}));
}

TEST(Stream, MayHaveAPartOfNoWeight) {
  ToyRun run;
  std::string weights;
  for (int i = 0; i < 200; ++i) weights += i < 70 || i >= 140 ? "1\n" : "0\n";
  in_parts(run).setup.data.data_weighting = {run.files.write("weights", weights)};
  EXPECT_EQ(run.train_until(no_end).skipped, 0);
}

// The scale of weights is that of each part, so that parts of small weights do not make small steps.
TEST(Stream, HasWeightsOfItsParts) {
  ToyRun plain, weighted;
  for (ToyRun* run : {&plain, &weighted}) run->setup.optimizer.clip_norm = 0;
  std::string weights;
  for (int i = 0; i < 200; ++i) weights += i < 70 ? "1\n" : i < 140 ? "4\n" : "0.25\n";
  in_parts(weighted).setup.data.data_weighting = {weighted.files.write("weights", weights)};
  in_parts(plain).train_until(no_end);
  weighted.train_until(no_end);
  EXPECT_TRUE(plain.model_bytes() == weighted.model_bytes()) << "weights are powers of two, so nothing is rounded";
}

TEST(Stream, HasNoCorpusWeights) {
  ToyRun run;
  in_parts(run).setup.data.corpus_weights = {2};
  EXPECT_THAT(message_of([&] { run.train_until(3); }), HasSubstr("--corpus-weights with --stream"));
}

TEST(Stream, MayKeepItsPartsInATemporaryFile) {
  ToyRun in_memory, in_file;
  in_parts(in_memory).train_until(no_end);
  in_parts(in_file).setup.data.ram.bytes = 3000;
  in_file.setup.data.tempdir = in_file.files.path(".");
  in_file.train_until(no_end);
  EXPECT_THAT(in_file.log.text(), HasSubstr("of ids in a temporary file"));
  EXPECT_TRUE(in_file.model_bytes() == in_memory.model_bytes());
}

}  // namespace
}  // namespace dragoman
