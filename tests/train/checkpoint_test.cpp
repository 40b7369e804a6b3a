#include "train/checkpoint.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/toy_model.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

TEST(Checkpoint, NamesStandBesideTheModel) {
  EXPECT_EQ(sibling("dir/model.safetensors", "best-bleu"), "dir/model.best-bleu.safetensors");
  EXPECT_EQ(sibling("model.safetensors", "update8000"), "model.update8000.safetensors");
  EXPECT_EQ(sibling("dir.x/model", "state"), "dir.x/model.state");
  EXPECT_EQ(state_path("./a.b.safetensors"), "./a.b.state.safetensors");
}

// Only GPUs train in float16, but a state can be read anywhere.
TEST(Checkpoint, BeginsWithTheFirstLossScaleWherePrecisionChanges) {
  const ModelConfig config = toy_config();
  Arena arena;
  const auto model = make_model(config, backend("cpu"), arena, DType::f32, true);
  model->parameters().initialise(1);
  Adam adam(backend("cpu"), arena, model->parameters(), {});
  std::optional<MovingAverage> none;
  Progress progress;
  const Ownership all(model->parameters().flat_elements());
  const TemporaryFolder files;
  const auto scale_after = [&](TrainingPrecision saved, double scale, TrainingPrecision resumed) {
    const auto run = [&](TrainingPrecision precision) {
      return RunState{model->parameters(), adam, none, progress, model->baseline(), all, "2 threads", precision};
    };
    progress.loss_scale = {scale, 0};
    save_state(files / "state", run(saved), config, {});
    load_state(files / "state", run(resumed), config, {});
    return progress.loss_scale.value;
  };
  using enum TrainingPrecision;
  EXPECT_EQ(scale_after(float32, 1, float16), LossScale::first);
  EXPECT_EQ(scale_after(bfloat16, 1, float16), LossScale::first);
  EXPECT_EQ(scale_after(float16, 1, float16), 1);
  EXPECT_EQ(scale_after(float16, 4096, float16), 4096);
  EXPECT_EQ(scale_after(float16, 4096, float32), 1);
  EXPECT_EQ(scale_after(float32, 1, bfloat16), 1);
}

TEST(Checkpoint, OnlyTheLastNumberedOnesStay) {
  ToyRun run;
  run.setup.training.save_freq = {2, Frequency::updates};
  run.setup.training.keep_last = 3;
  run.train_until(11);
  EXPECT_THAT(run.files_made(),
              ElementsAre("model.safetensors", "model.state.safetensors", "model.update10.safetensors",
                          "model.update11.safetensors", "model.update8.safetensors"));
  EXPECT_TRUE(read_file(run.files / "model.update11.safetensors") == run.model_bytes());
}

TEST(Checkpoint, NumberedOnesAreThoseOfARunThatNeverStopped) {
  ToyRun straight, stopped;
  for (ToyRun* run : {&straight, &stopped}) {
    run->setup.training.save_freq = {4, Frequency::updates};
    run->setup.training.disp_freq = {1, Frequency::updates};
    run->setup.training.keep_last = 9;
  }
  straight.train_until(9);
  stopped.log.listen([&](const std::string& line) {
    if (line.find("Up. 2 : Sen.") != std::string::npos) stopped.control.save = true;
    if (line.find("Up. 6 : Sen.") != std::string::npos) stopped.control.stop = true;
    if (line.find("Up. 9 : Sen.") != std::string::npos) stopped.control.save = true;
  });
  EXPECT_EQ(stopped.train_until(9).updates, 6);
  EXPECT_THAT(stopped.log.text(), testing::AllOf(HasSubstr("(update 2)"), HasSubstr("(update 6)")));
  stopped.control.stop = false;
  EXPECT_EQ(stopped.train_until(9).updates, 9);
  EXPECT_THAT(straight.files_made(), IsSupersetOf({"model.update4.safetensors", "model.update9.safetensors"}));
  EXPECT_EQ(stopped.files_made(), straight.files_made());
  EXPECT_TRUE(stopped.state_bytes() == straight.state_bytes());
}

// A run that begins anew must not lose its own to those of an older one that went further.
TEST(Checkpoint, OutdatesNoneBeyondTheUpdateOfTheRun) {
  TemporaryFolder files;
  for (const char* name :
       {"m.update1.safetensors", "m.update2.safetensors", "m.update8.safetensors", "m.update9.safetensors"})
    files.make(name, "");
  EXPECT_THAT(outdated_by(3, files / "m.safetensors", 2), ElementsAre(files / "m.update1.safetensors"));
  EXPECT_THAT(outdated_by(2, files / "m.safetensors", 2), IsEmpty()) << "it replaces its own";
  EXPECT_THAT(outdated_by(9, files / "m.safetensors", 2, {1, 2}), IsEmpty()) << "those are of others";
}

TEST(Checkpoint, OutdatesNothingThatOnlyLooksNumbered) {
  TemporaryFolder files;
  for (const char* name : {"m.update1.safetensors", "m.update20.safetensors", "m.updateX.safetensors",
                           "m.update.safetensors", "m.update3.npz", "other.update1.safetensors"})
    files.make(name, "");
  std::filesystem::create_directory(files / "m.update2.safetensors");
  EXPECT_THAT(outdated_by(100, files / "m.safetensors", 2), ElementsAre(files / "m.update1.safetensors"));
}

TEST(Checkpoint, OfTheBestIsKeptForEachMetric) {
  ToyRun run;
  run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::chrf};
  run.setup.training.valid_freq = {5, Frequency::updates};
  run.setup.training.keep_best = 1;
  run.train_until(5);
  EXPECT_THAT(run.files_made(), IsSupersetOf({"model.best-cross-entropy.safetensors", "model.best-chrf.safetensors"}));
  EXPECT_TRUE(read_file(run.files / "model.best-cross-entropy.safetensors") == run.model_bytes());
}

TEST(Checkpoint, OfTheBestThatCouldNotBeWrittenGivesWayToTheNextBest) {
  ToyRun run;
  run.setup.training.valid_freq = {20, Frequency::updates};
  run.setup.training.keep_best = 1;
  const std::string best = best_path(run.setup.training.model, "cross-entropy");
  run.log.listen([&](const std::string& line) {  // after the files were checked
    if (line.starts_with("Model: ")) std::filesystem::create_directory(best);
  });
  EXPECT_THAT(message_of([&] { run.train_until(40); }),
              HasSubstr("not all output of the run was written: --keep-best (cross-entropy)"));
  std::filesystem::remove(best);
  const double lost = run.train_until(40).best.at("cross-entropy");
  EXPECT_THAT(run.log.text(), HasSubstr("update 40 was not saved as " + best + "; older files"));
  run.log.listen(nullptr);
  std::filesystem::remove(best);
  run.setup.optimizer.learn_rate = 30;  // all after it is worse
  const Progress after = run.train_until(60);
  EXPECT_EQ(after.best.at("cross-entropy"), lost);
  EXPECT_EQ(after.stalled.at("cross-entropy"), 1) << "early stopping goes by what was measured";
  EXPECT_TRUE(read_file(best) == run.model_bytes());
}

TEST(Checkpoint, OfAnAveragedRunHasTheAverageInTheModelAndBothInTheState) {
  ToyRun run;
  run.setup.optimizer.exponential_smoothing = 0.01;
  run.train_until(5);
  const SafetensorsFile model(run.setup.training.model), state(state_path(run.setup.training.model));
  for (const char* name : {"embedding.weight", "decoder.0.cross_attention.value.weight"}) {
    const auto smoothed = values_of<float>(model.get(name));
    EXPECT_EQ(values_of<float>(state.get(std::string("average/") + name)), smoothed) << name;
    EXPECT_NE(values_of<float>(state.get(std::string("parameter/") + name)), smoothed) << name;
  }
}

TEST(Checkpoint, HoldsTheMomentsOfEveryParameter) {
  ToyRun run;
  run.setup.training.after = {{2, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  trainer.run();
  const SafetensorsFile state(state_path(run.setup.training.model));
  std::set<std::vector<float>> seen;
  for (const auto& p : trainer.model().parameters().named()) {
    const TensorEntry& moment = state.get("second_moment/" + p.name);
    EXPECT_EQ(int64_t(moment.bytes.size()), p.value.bytes()) << p.name;
    EXPECT_TRUE(seen.insert(values_of<float>(moment)).second) << p.name << " has the moments of another";
  }
}

TEST(Checkpoint, IsRefusedWithANegativeMeanOfSquares) {
  ToyRun run;
  run.train_until(1);
  const std::string path = state_path(run.setup.training.model),
                    moment = "second_moment/decoder.0.feed_forward_norm.weight";
  const SafetensorsFile state(path);
  std::vector<float> values = values_of<float>(state, moment);
  values[0] = -0.5F;
  std::vector<TensorEntry> tensors(state.tensors().begin(), state.tensors().end());
  std::ranges::find(tensors, moment, &TensorEntry::name)->bytes = std::as_bytes(std::span(values));
  write_safetensors(path, tensors, state.metadata());
  EXPECT_THAT(message_of([&] { run.train_until(2); }),
              HasSubstr(path + ": " + moment + " holds -0.5, expected means of squares"));
}

// Each reader of a state meets the damage first: the options, the shards, the batches and the run itself.
TEST(Checkpoint, ThatIsDamagedSaysHowToGoOnWithoutIt) {
  ToyRun run;
  run.train_until(1);
  const std::string path = state_path(run.setup.training.model), sound = run.state_bytes();
  const auto hint = HasSubstr("hint: to resume, restore a copy of this training state; or train another --model");
  for (const bool cut : {false, true}) {
    std::string bytes = cut ? sound.substr(0, sound.size() / 2) : sound;
    if (!cut) bytes[bytes.size() - 5] ^= 1;
    std::ofstream(path, std::ios::binary) << bytes;
    for (const std::string& message :
         {message_of([&] { run.train_until(2); }), message_of([&] { config_of_state(path); }),
          message_of([&] { gradient_shards_of(path); }), message_of([&] { batch_words_of(path); })}) {
      EXPECT_THAT(message, AllOf(HasSubstr(path), hint, Not(HasSubstr("download")))) << cut;
    }
  }
  run.setup.training.pretrained_model = run.files / "pretrained.safetensors";
  std::filesystem::rename(run.setup.training.model, run.setup.training.pretrained_model);
  run.setup.training.no_reload = true;
  EXPECT_EQ(run.train_until(1).updates, 1) << "as the hint says";
}

TEST(Checkpoint, StoresTheBatchesOfItsRun) {
  ToyRun run;
  run.train_until(1);
  EXPECT_EQ(batch_words_of(state_path(run.setup.training.model)), 60);
  const std::string path = run.files / "damaged.safetensors";
  for (const char* words : {"many", "", "60 or so", "-60", "99999999999999999999"}) {
    write_safetensors(path, {}, {{"batch_words", words}});
    EXPECT_THAT(message_of([&] { batch_words_of(path); }), HasSubstr(fmt::format("its batch_words are '{}'", words)));
  }
  write_safetensors(path, {}, {});
  EXPECT_EQ(batch_words_of(path), std::nullopt) << "states of before had none";
}

TEST(Checkpoint, LeavesNoTemporaryFiles) {
  ToyRun run;
  run.setup.training.save_freq = {1, Frequency::updates};
  run.train_until(3);
  EXPECT_THAT(run.files_made(), ElementsAre("model.safetensors", "model.state.safetensors"));
}

}  // namespace
}  // namespace dragoman
