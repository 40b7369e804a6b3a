#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

int64_t validations_at(const ToyRun& run, int64_t update) {
  return std::ranges::count_if(run.log.lines(), [&](const std::string& line) {
    return line.find(fmt::format("[valid] Ep. 1 : Up. {} : ", update)) != std::string::npos;
  });
}

TEST(LastValidation, MeasuresTheModelThatTheRunEndsWith) {
  ToyRun straight, ended;
  for (ToyRun* run : {&straight, &ended}) {
    run->setup.training.valid_freq = {4, Frequency::updates};
    run->setup.training.keep_best = 1;
  }
  const Progress progress = ended.train_until(6);
  EXPECT_EQ(validations_at(ended, 6), 1) << ended.log.text();
  const std::string best = best_path(ended.setup.training.model, "cross-entropy");
  EXPECT_TRUE(read_file(best) == ended.model_bytes()) << "the last model is the best one";
  EXPECT_EQ(progress.stalled.at("cross-entropy"), 0);
  ended.train_until(10);
  straight.train_until(10);
  EXPECT_TRUE(ended.state_bytes() == straight.state_bytes());
  EXPECT_TRUE(ended.model_bytes() == straight.model_bytes());
}

TEST(LastValidation, IsNotMadeTwice) {
  for (const Frequency due : {Frequency{3, Frequency::updates}, Frequency{1, Frequency::target_tokens}}) {
    ToyRun run;
    run.setup.training.valid_freq = due;
    run.train_until(6);
    EXPECT_EQ(validations_at(run, 6), 1) << run.log.text();
    run.train_until(6);
    EXPECT_EQ(validations_at(run, 6), 1) << "nor by a call that has nothing to train";
  }
}

// At an update at which a validation is due, which the call that made it did not make, or not of this.
TEST(LastValidation, OfWhatAFinishedRunHasNotMeasuredIsMade) {
  const Frequency due{3, Frequency::updates};
  for (const std::string lacking : {"frequency", "text", "metric"}) {
    ToyRun straight, run;
    for (ToyRun* each : {&straight, &run})
      each->setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::perplexity};
    const TrainingOptions wanted = run.setup.training;
    TrainingOptions& o = run.setup.training;
    if (lacking != "frequency") o.valid_freq = due;
    if (lacking == "text")
      o.valid_sets = {run.files.make("valid.one.en", "one\n"), run.files.make("valid.one.de", "zwei\n")};
    if (lacking == "metric") o.valid_metrics.pop_back();
    run.train_until(6);
    run.log.clear();
    o = wanted;
    o.valid_freq = due;
    o.keep_best = 1;
    run.train_until(6);
    EXPECT_EQ(validations_at(run, 6), 2) << lacking << ": " << run.log.text();
    EXPECT_TRUE(read_file(best_path(o.model, "perplexity")) == run.model_bytes()) << lacking;
    EXPECT_THAT(run.log.text(), Not(HasSubstr("best-perplexity.safetensors is not there"))) << lacking;
    straight.train_until(9);
    run.train_until(9);
    EXPECT_TRUE(run.model_bytes() == straight.model_bytes()) << lacking;
  }
}

TEST(LastValidation, IsMadeAgainByACallThatCanMeasureAMetricForTheFirstTime) {
  ToyRun run;
  TrainingOptions& o = run.setup.training;
  o.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::translation};
  o.valid_freq = {3, Frequency::updates};
  o.valid_script_path = "false";
  run.train_until(6);
  o.valid_script_path = "echo 1";
  run.log.clear();
  run.train_until(6);
  EXPECT_THAT(run.log.text(), HasSubstr("translation : 1 : new best"));
}

TEST(LastValidation, IsNotMadeWhereNoneIsWanted) {
  ToyRun run;
  run.train_until(2);
  EXPECT_EQ(validations_at(run, 2), 0) << "--valid-freq 0 is never";
  run.setup.training.valid_freq = {4, Frequency::updates};
  run.setup.training.disp_freq = {1, Frequency::updates};
  run.log.listen([&](const std::string& line) {
    if (line.find("Up. 3 : Sen.") != std::string::npos) run.control.stop = true;
  });
  EXPECT_EQ(run.train_until(6).updates, 3);
  EXPECT_EQ(validations_at(run, 3), 0) << "a stopped run is continued later";
  run.control.stop = false;
  run.setup.training.valid_sets.clear();
  run.train_until(5);
  EXPECT_EQ(validations_at(run, 5), 0);
}

/// Without a learning rate, validations after the first are no better.
struct Stalling : ToyRun {
  Stalling() {
    setup.optimizer.learn_rate = 0;
    setup.training.valid_freq = {2, Frequency::updates};
    setup.training.early_stopping = 2;
    EXPECT_EQ(train_until(4).stalled.at("cross-entropy"), 1);
    log.clear();
  }
};

TEST(BestValue, OfAnotherValidationTextIsForgotten) {
  Stalling run;
  const auto easier = run.files.make("valid.one.en", "one\n"), harder = run.files.make("valid.one.de", "zwei\n");
  run.setup.training.valid_sets = {easier, harder};
  const Progress p = run.train_until(6);
  EXPECT_EQ(p.updates, 6);
  EXPECT_EQ(p.stalled.at("cross-entropy"), 0);
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("the validation text or the options of cross-entropy have changed"),
                                    HasSubstr(" : new best")));
  run.log.clear();
  run.train_until(8);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("have changed")));
}

TEST(BestValue, IsNotForgottenForOptionsThatDoNotChangeIt) {
  Stalling run;
  run.setup.training.valid_beam_size = 1;
  run.setup.training.valid_max_lines = 3;
  EXPECT_EQ(run.train_until(6).stalled.at("cross-entropy"), 2);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("have changed")));
}

TEST(BestValue, OfAnotherSearchIsForgotten) {
  for (const bool of_beams : {true, false}) {
    ToyRun run;
    run.setup.training.valid_metrics = {ValidMetric::chrf, ValidMetric::cross_entropy};
    run.setup.training.valid_freq = {2, Frequency::updates};
    const double best = run.train_until(2).best.at("cross-entropy");
    if (of_beams)
      run.setup.training.valid_beam_size = 1;
    else
      run.setup.training.valid_max_lines = 3;
    run.setup.training.valid_freq = {};
    const Progress p = run.train_until(3);
    EXPECT_FALSE(p.best.contains("chrf")) << of_beams;
    EXPECT_EQ(p.best.at("cross-entropy"), best);
  }
}

TEST(BestValue, OfAStateOfAnOlderVersionIsKept) {
  Stalling run;
  const std::string path = state_path(run.setup.training.model);
  {
    const SafetensorsFile state(path);
    Metadata metadata = state.metadata();
    nlohmann::json progress = nlohmann::json::parse(metadata.at("progress"));
    EXPECT_EQ(progress.erase("measured"), 1u);
    progress["stalled"] = progress.at("stalled").at("cross-entropy");
    metadata["progress"] = progress.dump();
    write_safetensors(path, {state.tensors().begin(), state.tensors().end()}, metadata);
  }
  EXPECT_EQ(run.train_until(6).stalled.at("cross-entropy"), 2);
}

}  // namespace
}  // namespace dragoman
