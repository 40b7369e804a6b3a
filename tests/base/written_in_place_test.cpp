#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/line_writer.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"
#include "tests/without_rights.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

TEST(WrittenInPlace, AreFilesThatNothingCanReplace) {
  const TemporaryFolder folder;
  const std::string path = folder.make("lines", "old\n"), other = folder.make("other", "old\n");
  std::filesystem::create_symlink("/dev/stdout", folder / "stdout");
  for (const std::string& name : {std::string("-"), std::string("/dev/stdout"), std::string("/proc/self/fd/1"),
                                  std::string("/dev/fd/1"), std::string("/dev/null"), folder / "stdout"})
    EXPECT_TRUE(is_written_in_place(name)) << name;
  EXPECT_FALSE(is_written_in_place(path));
  EXPECT_FALSE(is_written_in_place(folder / "new"));
  EXPECT_FALSE(is_written_in_place(folder / ""));
  bool called = false;
  EXPECT_THROW(write_lines_atomically(folder / "", [&](LineWriter&) { called = true; }), Error);
  EXPECT_FALSE(called);
  std::filesystem::permissions(path, std::filesystem::perms::all);
  std::filesystem::permissions(other, std::filesystem::perms::owner_read);
  const WithoutRights nobody(folder / "");
  using std::filesystem::perms;
  std::error_code not_owner;  // root is nobody now, who has no right to write there
  std::filesystem::permissions(folder / "", perms::owner_read | perms::owner_exec, not_owner);
  EXPECT_TRUE(is_written_in_place(path));
  EXPECT_FALSE(is_written_in_place(other));  // which is an error
  EXPECT_FALSE(is_written_in_place(folder / "new"));
  write_lines_atomically(path, [](LineWriter& out) { out.write("new"); });
  EXPECT_EQ(read_lines(path), Lines{"new"});
  std::filesystem::permissions(folder / "", perms::owner_all, not_owner);
}

// A file under the name of which another may be put meanwhile, as that of stdout may be.
TEST(WrittenInPlace, LinesReachAnOpenFile) {
  const TemporaryFolder folder;
  const std::string path = folder.make("lines", "");
  const FileDescriptor open = FileDescriptor::to_read(path);
  std::filesystem::rename(path, folder / "moved");
  write_lines_atomically(fmt::format("/dev/fd/{}", open.number()), [](LineWriter& out) { out.write("new"); });
  EXPECT_EQ(read_lines(folder / "moved"), Lines{"new"});
  EXPECT_EQ(folder.files(), 1);
}

}  // namespace
}  // namespace dragoman
