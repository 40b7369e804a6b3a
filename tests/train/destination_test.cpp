#include "train/destination.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "base/file_calls.h"
#include "tests/temporary_folder.h"
#include "tests/train/small_disk.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(ModelLock, IsForOneAtATime) {
  const TemporaryFolder folder;
  const std::string model = folder / "m";
  const auto message = [&] { return message_of([&] { ModelLock lock(model); }); };
  {
    const ModelLock lock(model);
    EXPECT_THAT(message(),
                AllOf(HasSubstr(fmt::format("--model {}: it is being trained already (process {})", model, getpid())),
                      HasSubstr("another --model")));
    EXPECT_EQ(folder.files(), 1);
  }
  EXPECT_EQ(folder.files(), 0);
  folder.make("m.lock", "99999");  // as a killed process leaves it
  EXPECT_EQ(message(), "");
  EXPECT_EQ(folder.files(), 0);
}

TEST(ModelLock, IsOneForAllLinksToAModel) {
  const TemporaryFolder folder;
  folder.make("m", "a model");
  fs::create_symlink("m", folder / "link");
  fs::create_symlink("nod/m", folder / "broken");
  const ModelLock lock(folder / "m");
  EXPECT_THAT(message_of([&] { ModelLock other(folder / "link"); }), HasSubstr("it is being trained already"));
  EXPECT_THAT(message_of([&] { ModelLock other(folder / "broken"); }),
              HasSubstr("there is no folder " + folder / "nod"));
}

TEST(ModelLock, IsARegularFileOrAnError) {
  const TemporaryFolder folder;
  folder.make("victim", "kept");
  fs::create_symlink("victim", folder / "m.lock");
  fs::create_symlink("nowhere", folder / "n.lock");
  fs::create_directory(folder / "o.lock");
  for (const std::string model : {"m", "n", "o"})
    EXPECT_THAT(message_of([&] { ModelLock lock(folder / model); }), HasSubstr(".lock cannot be opened: ")) << model;
  EXPECT_EQ(folder.content_of("victim"), "kept");
  EXPECT_EQ(folder.files(), 4);
}

TEST(ModelLock, NeedsTheFolderOfTheModel) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] { ModelLock lock(folder / "nod/m"); }),
            fmt::format("--model {0}/m: there is no folder {0}\nhint: mkdir -p {0}", folder / "nod"));
}

TEST(NumberedCheckpoints, OfAnEarlierRunAreNamed) {
  ToyRun run;
  run.setup.training.save_freq = {2, Frequency::updates};
  run.setup.training.keep_last = 3;
  run.train_until(8);
  EXPECT_THAT(run.log.text(), testing::Not(HasSubstr("an average of those")));
  run.setup.training.no_reload = true;
  run.train_until(4);
  EXPECT_THAT(run.log.text(),
              HasSubstr("model.update6.safetensors and 1 more file like it are not among the last 3 checkpoints of "
                        "this run: leave them out when you average those, or remove them"));
  run.log.clear();
  run.setup.training.no_reload = false;
  run.train_until(5);
  EXPECT_THAT(run.log.text(), HasSubstr("model.update6.safetensors and 1 more file like it"));
}

TEST(NumberedCheckpoints, ThatCannotBeWrittenDoNotKeepTheStateFromBeingSaved) {
  ToyRun run;
  run.setup.training.save_freq = {2, Frequency::updates};
  run.setup.training.keep_last = 2;
  fs::create_directories(run.files / "model.update4.safetensors/inner");
  EXPECT_THAT(message_of([&] { run.train_until(4); }), HasSubstr("--keep-last: "));
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("(update 4)"), testing::Not(HasSubstr("not saved"))));
  EXPECT_EQ(run.train_until(5).updates, 5) << "a later one was written";
  EXPECT_TRUE(fs::exists(run.files / "model.update4.safetensors/inner"));
}

// After a crash between the two files of a first checkpoint.
TEST(Resume, ResumesFromAStateThatIsAlone) {
  ToyRun straight, alone;
  straight.train_until(6);
  alone.train_until(3);
  fs::remove(alone.setup.training.model);
  alone.train_until(6);
  EXPECT_THAT(alone.log.text(), HasSubstr("Resuming from"));
  EXPECT_TRUE(straight.state_bytes() == alone.state_bytes());
  EXPECT_TRUE(straight.model_bytes() == alone.model_bytes());
}

// A state of 30 MiB is replaced while the old one and the model still lie there.
TEST(RequireSpace, IsThatOfASaveWhichReplacesTheFiles) {
  const TemporaryFolder files;
  const std::string model = files / "m.safetensors";
  const CheckpointSize size{.model = 10 << 20, .state = 30 << 20};
  const auto need = [&](int64_t mebibytes) {
    EXPECT_NO_THROW(require_space(model, size, mebibytes << 20));
    EXPECT_THAT(message_of([&] { require_space(model, size, (mebibytes - 1) << 20); }),
                AllOf(HasSubstr(fmt::format("a checkpoint needs {} MiB more", mebibytes)),
                      HasSubstr(fmt::format("has {} MiB free", mebibytes - 1)), HasSubstr("hint: free")));
  };
  need(70);
  files.make("m.state.safetensors", "");
  fs::resize_file(files / "m.state.safetensors", 30 << 20);  // a first save was interrupted
  need(40);
  files.make("m.safetensors", "");
  fs::resize_file(model, 10 << 20);
  need(30);
  fs::resize_file(files / "m.state.safetensors", 300 << 20);  // another model, for --no-reload
  need(30);
}

TEST(RequireSpace, KnowsTheLimitOnFileSizes) {
  const TemporaryFolder files;
  const auto message = [&](CheckpointSize size) {
    const SmallFiles limited(2 << 20);
    return message_of([&] { require_space(files / "m", size, 1 << 30); });
  };
  EXPECT_EQ(message({.model = 1 << 20, .state = 2 << 20}), "");
  EXPECT_EQ(message({.model = 1 << 20, .state = 3 << 20}),
            fmt::format("--model {}: its largest file, of 3072 KiB, exceeds the limit on file sizes, 2048 KiB\n"
                        "hint: raise it: ulimit -f shows it",
                        files / "m"));
}

/// While this lives, the disk of each of these folders has so many MiB free; others have plenty.
class FreeSpaces {
 public:
  explicit FreeSpaces(std::map<std::string, int64_t> mebibytes) {
    of_folders = std::move(mebibytes);
    file_calls().statvfs = [](const char* folder, struct statvfs* disk) {
      const auto found = of_folders.find(folder);
      *disk = {};
      disk->f_frsize = 1 << 20;
      disk->f_bavail = fsblkcnt_t(found == of_folders.end() ? 1 << 20 : found->second);
      return 0;
    };
  }
  ~FreeSpaces() { file_calls() = before_; }

 private:
  static inline std::map<std::string, int64_t> of_folders;
  const FileCalls before_ = file_calls();
};

// The state and all checkpoints but the model are written beside the link.
TEST(RequireSpace, IsThatBesideALinkToTheModel) {
  ToyRun run;
  fs::create_directory(run.files / "small");
  fs::create_symlink(run.setup.training.model, run.files / "small/model.safetensors");
  run.setup.training.model = run.files / "small/model.safetensors";
  {
    const FreeSpaces full({{run.files / "small", 0}});
    EXPECT_THAT(message_of([&] { run.train_until(1); }),
                HasSubstr("MiB more on the disk of " + run.files / "small" + ", which has 0 MiB free"));
  }
  EXPECT_EQ(run.train_until(1).updates, 1);
}

TEST(RequireSpace, IsThatOfEachDisk) {
  struct stat here, there;
  const bool known = stat(fs::temp_directory_path().c_str(), &here) == 0 && stat("/dev/shm", &there) == 0;
  if (!known || here.st_dev == there.st_dev) GTEST_SKIP() << "/dev/shm is no second disk";
  const TemporaryFolder files, behind("/dev/shm");
  const std::string model = files / "m.safetensors";
  fs::create_symlink(behind / "m.safetensors", model);
  const CheckpointSize size{.model = 10 << 20, .state = 30 << 20};
  const auto complaint = [&](int64_t beside, int64_t of_model) {
    const FreeSpaces disks({{fs::path(model).parent_path(), beside}, {fs::path(behind / "m").parent_path(), of_model}});
    return message_of([&] { require_space(model, size, free_space(model)); });
  };
  EXPECT_EQ(complaint(60, 20), "");
  EXPECT_THAT(complaint(59, 20), HasSubstr("needs 60 MiB more on the disk of " +
                                           fs::path(model).parent_path().string() + ", which has 59 MiB"));
  EXPECT_THAT(complaint(60, 19), HasSubstr("needs 20 MiB more on the disk of /dev/shm/"));
}

TEST(RequireWritableModel, NeedsAFolderForTheStateToo) {
  const TemporaryFolder files;
  EXPECT_EQ(message_of([&] { require_writable_model(files / "m"); }), "");
  fs::create_symlink("nowhere/state", files / "m.state");
  EXPECT_THAT(message_of([&] { require_writable_model(files / "m"); }),
              HasSubstr("nowhere, which the training state is written to, cannot be written to"));
}

TEST(NeverEnding, RunsAreWarnedOf) {
  ToyRun run;
  const auto begin = [&] { const Trainer trainer(run.setup, backend("cpu")); };
  run.setup.training.after.clear();
  begin();
  EXPECT_THAT(run.log.text(), HasSubstr("this run has no end"));
  run.log.clear();
  run.setup.training.early_stopping = 3;
  begin();
  EXPECT_THAT(run.log.text(), HasSubstr("--valid-sets with --early-stopping and --valid-freq above 0"));
  for (bool validates : {false, true}) {
    run.log.clear();
    run.setup.training.after = {{validates ? 0 : 3, Frequency::updates}};
    run.setup.training.valid_freq = {validates ? 5 : 0, Frequency::updates};
    begin();
    EXPECT_THAT(run.log.text(), testing::Not(HasSubstr("this run has no end")));
  }
}

}  // namespace
}  // namespace dragoman
