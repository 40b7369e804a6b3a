#include "base/file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(WriteAtomically, ReplacesTheFileAndLeavesNothingElse) {
  TemporaryFolder folder;
  const std::string path = folder.make("model", "old");
  const std::string large(3'000'000, 'x');
  write_atomically(path, [&](FileWriter& file) {
    file.write("new ");
    file.write(large.data(), large.size());
    file.write("!");
  });
  EXPECT_EQ(folder.content_of("model"), "new " + large + "!");
  EXPECT_EQ(folder.files(), 1);
}

TEST(WriteAtomically, KeepsTheOldFileWhenTheWriterThrows) {
  TemporaryFolder folder;
  const std::string path = folder.make("model", "old");
  const auto broken = [](FileWriter& file) {
    file.write(std::string(3'000'000, 'x'));
    fail("the pieces ran out");
  };
  EXPECT_STREQ(thrown_by([&] { write_atomically(path, broken); }).what(), "the pieces ran out");
  EXPECT_EQ(folder.content_of("model"), "old");
  EXPECT_EQ(folder.files(), 1);
}

TEST(WriteAtomically, FollowsALinkInsteadOfReplacingIt) {
  TemporaryFolder folder;
  folder.make("real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_atomically(folder / "link", [](FileWriter& file) { file.write("new"); });
  EXPECT_EQ(folder.content_of("real"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(WriteAtomically, MakesWhatAChainOfLinksLeadsTo) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "disk");
  std::filesystem::create_symlink("disk/link", folder / "link");
  std::filesystem::create_symlink("real", folder / "disk/link");
  write_atomically(folder / "link", [&](FileWriter& file) {
    EXPECT_EQ(folder.files(), 2) << "the temporary file lies beside the real one";
    file.write("new");
  });
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link") && std::filesystem::is_symlink(folder / "disk/link"));
  EXPECT_EQ(folder.content_of("disk/real"), "new");
}

TEST(WriteAtomically, KeepsThePermissionsOfAFileThatItReplaces) {
  TemporaryFolder folder;
  const std::string path = folder.make("model", "old");
  for (const auto permissions : {std::filesystem::perms(0600), std::filesystem::perms(0664)}) {
    std::filesystem::permissions(path, permissions);
    write_atomically(path, [](FileWriter& file) { file.write("new"); });
    EXPECT_EQ(std::filesystem::status(path).permissions(), permissions);
  }
}

TEST(WriteAtomically, RemovesWhatDeadWritersLeftAndNothingElse) {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  TemporaryFolder folder;
  const std::string of_dead = fmt::format(".tmp-{}-", dead);
  folder.make("model" + of_dead + "0123abcd", "half");
  folder.make("victim", "kept");
  const std::vector<std::string> kept = {
      folder.make(fmt::format("model.tmp-{}-0123abcd", getppid()), "of a process that lives"),
      folder.make("other" + of_dead + "0123abcd", "of another target"), folder.make("model" + of_dead + "notes", "no")};
  std::filesystem::create_symlink("victim", folder / "model" + of_dead + "00000000");
  std::filesystem::create_directory(folder / "model" + of_dead + "11111111");
  write_atomically(folder / "model", [](FileWriter& file) { file.write("new"); });
  EXPECT_FALSE(std::filesystem::exists(folder / "model" + of_dead + "0123abcd"));
  for (const std::string& file : kept) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(folder.content_of("victim"), "kept");
  EXPECT_EQ(folder.files(), 7);
}

TEST(FileToWrite, KeepsWhatItHeldUntilTheFirstWrite) {
  TemporaryFolder folder;
  const std::string path = folder.make("out", "what was there");
  { const auto file = FileDescriptor::to_write(path); }
  EXPECT_EQ(folder.content_of("out"), "what was there");
  auto file = FileDescriptor::to_write(path);
  file.write("new");
  EXPECT_EQ(folder.content_of("out"), "new");
  FileDescriptor::to_write(path).close();
  EXPECT_EQ(folder.content_of("out"), "");
}

TEST(WriteAtomically, SaysWhichFolderIsMissing) {
  TemporaryFolder folder;
  const Error error = thrown_by([&] { write_atomically(folder / "no/model", [](FileWriter&) {}); });
  EXPECT_EQ(error.what(), folder / "no/model" + ": there is no folder " + folder / "no");
  EXPECT_EQ(error.hint(), "mkdir -p " + folder / "no");
}

TEST(WriteAtomically, DoesNotReplaceADevice) {
  EXPECT_THAT(thrown_by([] { write_atomically("/dev/null", [](FileWriter&) {}); }).what(),
              HasSubstr("is not a regular file"));
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  TemporaryFolder folder;
  const MappedFile file(folder.make("data", std::string("ab\0c", 4)));
  ASSERT_EQ(file.size(), 4u);
  EXPECT_EQ(file.data()[3], std::byte{'c'});
  EXPECT_EQ(MappedFile(folder.make("empty", "")).size(), 0u);
}

TEST(MappedFile, RefusesWhatIsNotAFileOnDisk) {
  TemporaryFolder folder;
  EXPECT_THAT(thrown_by([&] { MappedFile(folder / "."); }).what(), HasSubstr("is a folder"));
  EXPECT_THAT(thrown_by([&] { MappedFile("/dev/null"); }).what(), HasSubstr("is not a file on disk"));
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);  // without a writer: opening it would block forever
  EXPECT_THAT(thrown_by([&] { MappedFile(folder / "pipe"); }).what(), HasSubstr("is not a file on disk"));
  EXPECT_THAT(thrown_by([&] { MappedFile(folder / "gone"); }).what(),
              HasSubstr("gone: cannot be opened: No such file"));
}

TEST(ReadFile, EndsWhereAFileDoesNot) {
  EXPECT_THAT([] { read_file("/dev/zero"); },
              testing::ThrowsMessage<Error>("/dev/zero has more than 256 MiB, expected a small file"));
}

TEST(ReadRegularFile, RefusesWhatMayNeverEndOrBegin) {
  TemporaryFolder folder;
  EXPECT_EQ(read_regular_file(folder.make("data", "abc")), "abc");
  EXPECT_THAT(thrown_by([&] { read_regular_file(folder / "."); }).what(), HasSubstr("is a folder"));
  EXPECT_THAT(thrown_by([&] { read_regular_file("/dev/zero"); }).what(), HasSubstr("is not a file on disk"));
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);  // without a writer: opening it would block forever
  EXPECT_THAT(thrown_by([&] { read_regular_file(folder / "pipe"); }).what(), HasSubstr("is not a file on disk"));
}

TEST(ReadFile, GivesEverythingAsItIs) {
  TemporaryFolder folder;
  const std::string content = std::string(2'500'000, 'a') + std::string("\r\n\0\xFF", 4);
  EXPECT_EQ(read_file(folder.make("data", content)), content);
}

TEST(FileDescriptor, SaysWhereALinkLeadsThatLeadsNowhere) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("disk/gone", folder / "link");
  std::filesystem::create_directory(folder / "disk");
  try {
    FileDescriptor::to_read(folder / "link");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), folder / "link" + ": cannot be opened: No such file or directory");
    EXPECT_EQ(error.hint(), "it is a symbolic link to " + folder / "disk/gone" + ", which does not exist");
  }
}

TEST(FileDescriptor, NamesTheFileInAnotherCompression) {
  TemporaryFolder folder;
  const auto hint = [&](const std::string& name) {
    try {
      FileDescriptor::to_read(folder / name);
    } catch (const Error& error) {
      return error.hint();
    }
    return std::string("it was opened");
  };
  folder.make("train.en.xz", ""), folder.make("plain", ""), folder.make("a.zst", ""), folder.make("plain.en.bz2", "");
  EXPECT_EQ(hint("train.en"), "there is " + folder / "train.en.xz" + ": did you mean that?");
  EXPECT_EQ(hint("plain.gz"), "there is " + folder / "plain" + ": did you mean that?");
  EXPECT_EQ(hint("a.gz"), "there is " + folder / "a.zst" + ": did you mean that?");
  EXPECT_EQ(hint("plain.en"), "check the name, and the folder that the command runs in");
}

}  // namespace
}  // namespace dragoman
