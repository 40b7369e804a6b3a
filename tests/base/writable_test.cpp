#include "base/writable.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message_of_checking(const std::string& file) {
  try {
    require_writable("model", file);
  } catch (const Error& error) {
    return std::string(error.what()) + "\nhint: " + error.hint();
  }
  return "";
}

TEST(RequireWritable, NeedsAFolderToWriteTo) {
  const TemporaryFolder files;
  EXPECT_THAT(message_of_checking(files / "nowhere/m"),
              AllOf(HasSubstr("there is no folder"), HasSubstr("hint: mkdir -p")));
  EXPECT_THAT(message_of_checking(files / "."), HasSubstr("is a folder"));
  EXPECT_EQ(message_of_checking(files / "m"), "");
}

TEST(FolderOfWritten, IsThatWhichALinkLeadsTo) {
  const TemporaryFolder files;
  std::filesystem::create_directory(files / "behind");
  std::filesystem::create_symlink("behind/m", files / "link");
  EXPECT_EQ(folder_of_written(files / "link"), std::filesystem::canonical(files / "behind"));
  EXPECT_EQ(folder_of_written("m"), ".");
}

}  // namespace
}  // namespace dragoman
