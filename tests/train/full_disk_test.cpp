#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

#include "tests/temporary_folder.h"
#include "tests/train/small_disk.h"
#include "tests/train/toy_run.h"
#include "train/destination.h"
#include "train/dry_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

// Of a size that decides whether the files of the model find room.
struct LargeRun : ToyRun {
  explicit LargeRun(int64_t save_freq) {
    setup.training.save_freq = {save_freq, Frequency::updates};
    setup.model.dim = 64;
    setup.model.feed_forward = 512;
  }
  /// Bytes in which a save fits that replaces the state, and half of another model.
  int64_t room_for_a_save() const {
    const auto model = int64_t(model_bytes().size()), state = int64_t(state_bytes().size());
    EXPECT_GT(state, model + model / 2);
    return model + 2 * state + model / 2;
  }
};

TEST(FullDisk, KeepsTheOldFilesAndContinues) {
  ToyRun run;
  run.setup.training.disp_freq = {1, Frequency::updates};
  run.setup.training.save_freq = {2, Frequency::updates};
  std::optional<SmallFiles> full;
  std::string model, state;
  run.log.listen([&](const std::string& line) {
    if (line.find("(update 2)") != std::string::npos) {
      model = run.model_bytes();
      state = run.state_bytes();
      full.emplace(1000);
    }
    if (line.find("update 4 was not saved") == std::string::npos) return;
    full.reset();
    EXPECT_TRUE(run.model_bytes() == model);
    EXPECT_TRUE(run.state_bytes() == state);
  });
  EXPECT_EQ(run.train_until(7).updates, 7);
  EXPECT_THAT(run.log.text(),
              AllOf(HasSubstr("update 4 was not saved as " + run.setup.training.model + "; older files are kept"),
                    HasSubstr("(update 6)"), HasSubstr("(update 7)")));
  EXPECT_THAT(run.files_made(), testing::ElementsAre("model.safetensors", "model.state.safetensors"));
}

TEST(FullDisk, AtTheEndIsAnErrorAsTheWorkWouldBeLost) {
  ToyRun run;
  run.setup.training.save_freq = {2, Frequency::updates};
  std::optional<SmallFiles> full;
  run.log.listen([&](const std::string& line) {
    if (line.find("(update 2)") != std::string::npos) full.emplace(1000);
  });
  EXPECT_THAT(message_of([&] { run.train_until(3); }), HasSubstr("model.state.safetensors: writing failed"));
  full.reset();
  EXPECT_EQ(run.train_until(3).updates, 3);
}

TEST(FullDisk, CostsANumberedCheckpointRatherThanTheStateAndTheModel) {
  LargeRun straight(2), run(2);
  straight.train_until(6);
  run.setup.training.keep_last = 1;
  int64_t others = 0;
  for (const auto& file : fs::directory_iterator(run.files / ".")) others += int64_t(file.file_size());
  {
    const SmallDisk disk(run.files / ".", others + straight.room_for_a_save());
    EXPECT_THAT(message_of([&] { run.train_until(6); }),
                AllOf(HasSubstr("not all output of the run was written: --keep-last: "), HasSubstr("state")));
  }
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("update 4: no numbered checkpoint was kept, and training continues: "),
                                    HasSubstr("(update 4)"), HasSubstr("(update 6)")));
  EXPECT_THAT(run.files_made(), testing::ElementsAre("model.safetensors", "model.state.safetensors"));
  EXPECT_TRUE(run.state_bytes() == straight.state_bytes());
  EXPECT_TRUE(run.model_bytes() == straight.model_bytes());
}

// Two numbered checkpoints and the files of a save fit, but not while the save replaces the state.
TEST(FullDisk, HasNoNumberedCheckpointThatWouldBlockLaterSaves) {
  for (const int64_t keep : {1, 2}) {
    LargeRun straight(2), run(2);
    straight.train_until(6);
    run.setup.training.keep_last = keep;
    SmallDisk disk(run.files / ".", 0);
    disk.resize(SmallDisk::used() + straight.room_for_a_save());
    disk.tell_free_space();
    EXPECT_THAT(message_of([&] { run.train_until(6); }),
                AllOf(StartsWith("not all output of the run was written: --keep-last: it needs "),
                      HasSubstr("and the next save"), Not(HasSubstr("MiB free; "))));
    EXPECT_THAT(run.log.text(), AllOf(HasSubstr("(update 2)"), HasSubstr("(update 4)"), HasSubstr("(update 6)"),
                                      Not(HasSubstr("was not saved"))));
    EXPECT_TRUE(run.model_bytes() == straight.model_bytes()) << keep;
    EXPECT_TRUE(run.state_bytes() == straight.state_bytes()) << keep;
  }
}

// The best model of the first validation comes before the first save.
TEST(FullDisk, CostsTheBestModelsRatherThanTheStateAndTheModel) {
  for (const int64_t keep : {1, 2}) {
    LargeRun straight(4), run(4);
    for (ToyRun* r : {&straight, &run}) r->setup.training.valid_freq = {1, Frequency::updates};
    straight.train_until(8);
    run.setup.training.keep_best = keep;
    {
      SmallDisk disk(run.files / ".", 0);
      disk.resize(SmallDisk::used() + straight.room_for_a_save());
      disk.tell_free_space();
      EXPECT_THAT(
          message_of([&] { run.train_until(8); }),
          AllOf(HasSubstr("not all output of the run was written: --keep-best"), HasSubstr("and the next save")));
    }
    EXPECT_THAT(run.log.text(), AllOf(HasSubstr("(update 4)"), HasSubstr("(update 8)")));
    EXPECT_TRUE(run.model_bytes() == straight.model_bytes()) << keep;
    for (ToyRun* r : {&straight, &run}) r->train_until(10);
    EXPECT_THAT(run.log.text(), HasSubstr("model.state.safetensors: update 8, "));
    EXPECT_TRUE(run.model_bytes() == straight.model_bytes()) << keep;
  }
}

// What is kept beside the model is written later, when the disk may have room.
TEST(RequireRoom, WarnsInDryRunsAsInRuns) {
  ToyRun run;
  const auto begin = [&](bool dry) {
    run.log.clear();
    return message_of([&] {
      dry ? void(dry_run(run.setup, backend("cpu"))) : void(Trainer(run.setup, backend("cpu"), run.control));
    });
  };
  const int64_t largest = dry_run(run.setup, backend("cpu")).checkpoint.larger();
  SmallDisk disk(run.files / ".", 0);
  disk.resize(SmallDisk::used() + 4 * largest);
  disk.tell_free_space();
  for (const bool dry : {true, false}) {
    run.setup.training.keep_last = 0;
    EXPECT_EQ(begin(dry), "");
    EXPECT_THAT(run.log.text(), Not(HasSubstr("MiB free"))) << (dry ? "a dry run" : "a run");
    run.setup.training.keep_last = 20;
    EXPECT_EQ(begin(dry), "");
    EXPECT_THAT(run.log.text(), HasSubstr("--keep-last 20, --keep-best 0 and the other files of the run need up to"))
        << (dry ? "a dry run" : "a run");
  }
}

// A better one needs no more room than the file that it replaces.
TEST(RequireSpaceBeside, CountsWhatIsReplaced) {
  const TemporaryFolder files;
  const std::string model = files / "m.safetensors", best = files / "m.best-bleu.safetensors";
  const CheckpointSize size{.model = 100, .state = 300};
  for (const auto& [path, bytes] : {std::pair(model, 100), {files / "m.state.safetensors", 300}, {best, 100}}) {
    files.make(fs::path(path).filename().string(), std::string(size_t(bytes), 'x'));
  }
  SmallDisk disk(files / ".", 0);
  disk.tell_free_space();
  disk.resize(SmallDisk::used() + 300);
  EXPECT_EQ(message_of([&] { require_space_beside(model, size, {best}); }), "");
  EXPECT_THAT(message_of([&] { require_space_beside(model, size, {}); }),
              HasSubstr("it needs 1 MiB, and the next save"));
  disk.resize(SmallDisk::used() + 99);
  EXPECT_NE(message_of([&] { require_space_beside(model, size, {best, model, model}); }), "");
}

}  // namespace
}  // namespace dragoman
