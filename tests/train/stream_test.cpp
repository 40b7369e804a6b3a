#include <gmock/gmock.h>

#include <sstream>

#include "io/model_file.h"
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
  in_parts(run).setup.data.data_weighting = {run.files.make("weights", weights)};
  EXPECT_EQ(run.train_until(no_end).skipped, 0);
}

// In weights of powers of two nothing is rounded.
TEST(Stream, HasWeightsOfOneScaleInAllItsParts) {
  const auto trained = [](std::array<double, 3> weights, std::vector<int64_t> stops) {
    ToyRun run;
    in_parts(run).setup.optimizer.clip_norm = 0;
    std::string lines;
    for (int i = 0; i < 200; ++i) lines += fmt::format("{}\n", weights[size_t(i / 70)]);
    run.setup.data.data_weighting = {run.files.make("weights", lines)};
    std::vector<double> norms;
    run.setup.training.disp_freq = {1, Frequency::updates};
    run.setup.training.observer = [&](const RunMoment&, const RunEvent& event) {
      if (const auto* report = std::get_if<RunReport>(&event)) norms.push_back(report->gradient_norm);
    };
    for (const int64_t stop : stops) run.train_until(stop);
    return std::pair(run.model_bytes(), norms);
  };
  const auto even = trained({1, 1, 1}, {no_end}), uneven = trained({1, 4, 0.25}, {no_end});
  EXPECT_TRUE(trained({2, 8, 0.5}, {no_end}) == uneven) << "the scale of all weights does not matter";
  EXPECT_TRUE(trained({1, 4, 0.25}, {9, 12, no_end}) == uneven) << "a run may stop in any part";
  const size_t second_part = 7;  // about the seventh update
  EXPECT_FALSE(even.first == uneven.first);
  EXPECT_EQ(even.second.front(), uneven.second.front());
  const auto largest = [&](const std::vector<double>& norms) {
    return *std::max_element(norms.begin() + second_part, norms.end());
  };
  EXPECT_GT(largest(uneven.second), 2 * largest(even.second));
}

// Lines 70 to 139, the second part, are empty on one side. The others are 6 and 5 batches.
ToyRun& with_a_useless_part(ToyRun& run) {
  std::istringstream source(read_file(run.setup.data.train_sets[0]));
  std::string text;
  int number = 0;
  for (std::string line; std::getline(source, line); ++number) text += (number / 70 == 1 ? "" : line) + "\n";
  run.setup.data.train_sets[0] = run.files.make("with a useless part", text);
  return in_parts(run);
}

struct ValidatedRun {
  std::vector<std::string> validations;
  std::string state;
};

// A run that validates every so many epochs. stop > 0: its first validation stops it, after that update, and it
// resumes.
ValidatedRun validated(int64_t epochs, int64_t stop) {
  ToyRun run;
  with_a_useless_part(run).setup.training.valid_freq = {epochs, Frequency::epochs};
  run.setup.training.save_freq = {1, Frequency::epochs};
  if (stop > 0) {
    run.log.listen([&](const std::string& line) {
      if (line.find("[valid]") != line.npos) run.control.stop = true;
    });
    EXPECT_EQ(run.train_until(no_end).updates, stop);
    run.log.listen([](const std::string&) {});
    run.control.stop = false;
  }
  run.train_until(no_end);
  ValidatedRun result{.state = run.state_bytes()};
  for (const std::string& line : run.log.lines())
    if (const size_t at = line.find("[valid] "); at != line.npos)
      result.validations.push_back(line.substr(at + 8, line.find(" : cross") - at - 8));
  return result;
}

TEST(Stream, HasEpochsWithoutAPairThatDoNotCauseASecondValidation) {
  EXPECT_THAT(validated(1, 0).validations, testing::ElementsAre("Ep. 1 : Up. 6", "Ep. 3 : Up. 11"));
  EXPECT_THAT(validated(2, 0).validations, testing::ElementsAre("Ep. 2 : Up. 6", "Ep. 3 : Up. 11"))
      << "before the first update of epoch 3, and of the last model";
}

TEST(Stream, ResumesBeforeAndAfterAnEpochWithoutAPair) {
  for (const int64_t epochs : {1, 2}) {
    const ValidatedRun straight = validated(epochs, 0), resumed = validated(epochs, 6);
    EXPECT_EQ(resumed.validations, straight.validations);
    EXPECT_TRUE(resumed.state == straight.state);
  }
}

TEST(Stream, EndsBeforeAnEpochWithoutAPairAndAfterIt) {
  for (const int64_t epochs : {1, 2}) {
    ToyRun run;
    with_a_useless_part(run).setup.training.after = {{epochs, Frequency::epochs}};
    Trainer trainer(run.setup, backend("cpu"));
    trainer.run();
    EXPECT_EQ(trainer.progress().sentences, 70);
    EXPECT_EQ(trainer.progress().position, (Position{epochs, 0}));
  }
}

// The longest pair comes after pairs of 2 to 5 words.
TEST(Stream, GivesItsModelTheLongestLengthsSoFar) {
  ToyRun whole, run;
  for (ToyRun* each : {&whole, &run}) {
    auto& sets = each->setup.data.train_sets;
    sets = {each->files.make("long.en", read_file(sets[0]) + "one two three four five six seven\none\n"),
            each->files.make("long.de", read_file(sets[1]) + "eins zwei drei vier fünf sechs sieben\neins\n")};
  }
  const auto trained = [](const ToyRun& of) { return ModelFile(of.setup.training.model).trained(); };
  whole.train_until(1);
  in_parts(run).train_until(9);
  const TrainedLengths all = trained(whole), first = trained(run);
  EXPECT_GE(first.source, 5);
  EXPECT_LT(first.source, all.source);
  run.train_until(no_end);
  EXPECT_EQ(trained(run).source, all.source);
  EXPECT_EQ(trained(run).target, all.target);
  run.setup.data.train_sets = {run.files.make("short.en", "one\n"), run.files.make("short.de", "eins\n")};
  const int64_t sentences = run.train_until(no_end).sentences;
  EXPECT_EQ(sentences, 203) << "a further stream";
  EXPECT_EQ(trained(run).source, all.source);
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
  in_file.setup.data.tempdir = in_file.files / ".";
  in_file.train_until(no_end);
  EXPECT_THAT(in_file.log.text(), HasSubstr("of ids in a temporary file"));
  EXPECT_TRUE(in_file.model_bytes() == in_memory.model_bytes());
}

}  // namespace
}  // namespace dragoman
