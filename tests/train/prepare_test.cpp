#include "train/prepare.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/train/toy_run.h"
#include "train/dry_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A corpus whose sides do not pair: reading it is an error.
struct Prepared : testing::Test {
  Prepared() {
    run.train_until(1);
    run.files.make("train.de", "zwei\n");
  }
  std::string complaint(const std::function<void(TrainingSetup&)>& change) {
    TrainingSetup setup = run.setup;
    change(setup);
    return message_of([&] { Trainer(setup, backend("cpu")); });
  }
  // Of a run with a vocabulary that cannot be learned from the text.
  std::string complaint_before_learning(const std::function<void(TrainingSetup&)>& change) {
    return complaint([&](TrainingSetup& s) {
      s.data.vocabs = {run.files / "new", run.files / "new"};
      s.data.dim_vocabs = {100'000};
      change(s);
    });
  }
  ToyRun run;
};

TEST_F(Prepared, ReadsTheTextIfNothingElseIsWrong) {
  EXPECT_THAT(complaint([](auto&) {}), HasSubstr("train.de has 1\n"));
  EXPECT_THAT(complaint_before_learning([](auto&) {}), HasSubstr("train.de has 1\n"));
  EXPECT_THAT(complaint_before_learning([](auto& s) { s.data.train_sets = s.training.valid_sets; }),
              HasSubstr("the text is too small"));
}

TEST_F(Prepared, LooksForFilesBeforeAVocabularyIsLearned) {
  const auto missing = [&](auto change) { return complaint_before_learning(change); };
  EXPECT_THAT(missing([](auto& s) { s.training.valid_sets[1] = "nothere.de"; }),
              HasSubstr("nothere.de: cannot be open"));
  EXPECT_THAT(missing([](auto& s) { s.data.data_weighting = {"nothere"}; }), HasSubstr("nothere: cannot be opened"));
  EXPECT_THAT(missing([](auto& s) { s.training.pretrained_model = "nothere"; }),
              HasSubstr("nothere: cannot be opened"));
  EXPECT_THAT(missing([](auto& s) { s.data.vocabs[1] = "no/v"; }), HasSubstr("--vocabs no/v: there is no folder no"));
  EXPECT_THAT(missing([](auto& s) {
                s.training.valid_metrics = {ValidMetric::translation};
                s.training.valid_script_path = "./nothere.sh";
              }),
              HasSubstr("--valid-script-path ./nothere.sh: there is no such program"));
  EXPECT_THAT(missing([](auto& s) { s.training.valid_translation_output = "no/out"; }),
              HasSubstr("--valid-translation-output no/out: there is no folder no"));
}

TEST_F(Prepared, LooksForFilesThatCannotBeReplacedBeforeAVocabularyIsLearned) {
  const auto refused = [&](const std::string& file, auto change) {
    std::filesystem::create_directory(run.files / file);
    EXPECT_THAT(complaint_before_learning([&](TrainingSetup& s) {
                  s.training.model = run.files / "other.safetensors";
                  s.training.no_reload = true;
                  change(s);
                }),
                HasSubstr(file + ", exists and is not a regular file, so it is not replaced"));
    std::filesystem::remove(run.files / file);
  };
  refused("other.state.safetensors", [](auto&) {});
  refused("other.best-cross-entropy.safetensors", [](auto& s) { s.training.keep_best = 1; });
  EXPECT_THAT(complaint_before_learning([](auto& s) { s.training.model = "/dev/null"; }),
              HasSubstr("--model /dev/null exists and is not a regular file, so it is not replaced"));
}

TEST_F(Prepared, ComparesTheStateBeforeTheTextIsRead) {
  EXPECT_THAT(complaint([](auto& s) { s.model.dim = 32; }),
              HasSubstr("belongs to another model: --dim-emb is 16, here 32"));
}

TEST_F(Prepared, LooksForNamesBeforeTheTextIsRead) {
  EXPECT_THAT(complaint([](auto& s) { s.optimizer.freeze = {"encodr.*"}; }),
              HasSubstr("--freeze encodr.*: no parameter has such a name"));
}

TEST_F(Prepared, ComparesThePretrainedModelBeforeTheTextIsRead) {
  const auto tuned = [&](auto change) {
    return complaint([&](TrainingSetup& s) {
      s.training.pretrained_model = s.training.model;
      s.training.model = run.files / "tuned";
      change(s);
    });
  };
  EXPECT_THAT(tuned([](auto&) {}), HasSubstr("train.de has 1\n"));
  EXPECT_THAT(tuned([](auto& s) { s.model.feed_forward = 48; }),
              AllOf(HasSubstr("--pretrained-model "), HasSubstr("(48")));
  EXPECT_THAT(tuned([](auto& s) { s.training.pretrained_model = "nothere"; }), HasSubstr("nothere: cannot be opened"));
}

TEST(LongWarmup, IsWarnedOfWhereTheUpdatesAreKnown) {
  const auto said = [](std::vector<Frequency> after) {
    ToyRun run;
    run.setup.optimizer.warmup = 30;
    run.setup.training.after = std::move(after);
    const Trainer trainer(run.setup, backend("cpu"));
    const std::string text = run.log.text();
    run.log.clear();
    dry_run(run.setup, backend("cpu"));
    EXPECT_EQ(text.find("--lr-warmup") == std::string::npos, run.log.text().find("--lr-warmup") == std::string::npos);
    return text;
  };
  EXPECT_THAT(
      said({{20, Frequency::updates}, {1000, Frequency::minutes}}),
      HasSubstr("the run ends after about 20 updates, within the 30 of --lr-warmup: the learning rate never rises "
                "to its full value; lower --lr-warmup, to about 1"));
  EXPECT_THAT(said({{1, Frequency::epochs}}), HasSubstr("within the 30 of --lr-warmup"));
  EXPECT_THAT(said({{59, Frequency::updates}}),
              HasSubstr("the run ends after about 59 updates, and the learning rate rises in 30 of them, more than "
                        "half; lower --lr-warmup, to about 2"));
  EXPECT_THAT(said({{900, Frequency::target_tokens}}), HasSubstr("within the 30 of --lr-warmup"));
  for (const Frequency enough : {Frequency{60, Frequency::updates}, Frequency{4, Frequency::epochs},
                                 Frequency{9'000, Frequency::target_tokens}, Frequency{0, Frequency::updates}})
    EXPECT_THAT(said({enough}), Not(HasSubstr("--lr-warmup"))) << enough.count;
}

TEST(ARateOfZero, IsWarnedOf) {
  const auto said = [](Schedule schedule, std::vector<Frequency> after) {
    ToyRun run;
    run.setup.optimizer.warmup = 0;
    run.setup.optimizer.schedule = schedule;
    run.setup.optimizer.decay_updates = 30;
    run.setup.training.after = std::move(after);
    const Trainer trainer(run.setup, backend("cpu"));
    return run.log.text();
  };
  for (const Schedule schedule : {Schedule::cosine, Schedule::linear}) {
    EXPECT_THAT(said(schedule, {{60, Frequency::updates}}),
                HasSubstr("the learning rate is 0 from update 30 on (--lr-decay-updates), and nothing is learned then, "
                          "but the run ends after about 60 updates; give the same number to both"));
    EXPECT_THAT(said(schedule, {}), HasSubstr("end the run there: --after 30u"));
    EXPECT_THAT(said(schedule, {{1, Frequency::epochs}}), Not(HasSubstr("learning rate is 0")));
    EXPECT_THAT(said(schedule, {{1500, Frequency::target_tokens}}), Not(HasSubstr("learning rate is 0")));
    EXPECT_THAT(said(schedule, {{6000, Frequency::target_tokens}}), HasSubstr("but the run ends after about 1"));
    EXPECT_THAT(said(schedule, {{31, Frequency::updates}}), Not(HasSubstr("learning rate is 0"))) << "hardly longer";
  }
  EXPECT_THAT(said(Schedule::constant, {{60, Frequency::updates}}), Not(HasSubstr("learning rate is 0")));
}

}  // namespace
}  // namespace dragoman
