#include "base/temporary_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {

std::string read_text(const TemporaryFile& file, int64_t offset, size_t bytes) {
  std::string text(bytes, '?');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST(TemporaryFile, GivesBackWhatWasWrittenAndHasNoName) {
  const TemporaryFolder files;
  TemporaryFile file(files / ".");
  for (const std::string text : {"one two three", "!"}) file.append(std::as_bytes(std::span(text)));
  file.flush();
  EXPECT_EQ(read_text(file, 0, 14), "one two three!");
  EXPECT_EQ(read_text(file, 4, 3), "two");
  EXPECT_TRUE(std::filesystem::is_empty(files / "."));
}

TEST(TemporaryFile, SaysWhereNoneCanBeMadeAndWhereItEnds) {
  const TemporaryFolder files;
  EXPECT_THAT(
      [&] { TemporaryFile file(files / "nowhere"); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("nowhere: cannot create a temporary file there: No such file")));
  const TemporaryFile file(files / ".");
  EXPECT_THROW(read_text(file, 0, 1), Error);
}

TEST(FreeSpace, IsThatOfTheDisk) {
  EXPECT_EQ(free_space_in("/proc"), 0);
  EXPECT_GT(free_space_in("/"), 0);
}

}  // namespace dragoman
