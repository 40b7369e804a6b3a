#include <gmock/gmock.h>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "base/temporary_file.h"
#include "tests/failing_calls.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

std::string line_number(int i) { return "line " + std::to_string(i * 7919 % 100'003); }

class FailingLines : public testing::TestWithParam<std::string> {};

TEST_P(FailingLines, AreAnErrorWhicheverCallFails) {
  const TemporaryFolder folder;
  const std::string path = folder.make("out" + GetParam(), "old");
  const int failures = fail_each_call([&] {
    LineWriter writer(path);
    for (int i = 0; i < 60'000; ++i) writer.write(line_number(i));
    writer.close();
  });
  EXPECT_GE(failures, 5);  // open, truncate, at least two writes, close
  const auto lines = read_lines(path);
  ASSERT_EQ(lines.size(), 60'000u);
  EXPECT_EQ(lines.back(), line_number(59'999));
}

TEST_P(FailingLines, AreAnErrorWhereOnlyTheEndIsWritten) {
  const TemporaryFolder folder;
  EXPECT_GE(fail_each_call([&] {
              LineWriter writer(folder / "out" + GetParam());
              writer.write("one");
              writer.close();
            }),
            3);  // open, write, close
}

INSTANTIATE_TEST_SUITE_P(Formats, FailingLines, testing::Values("", ".gz", ".xz", ".zst"),
                         [](const auto& info) { return info.param.empty() ? "plain" : info.param.substr(1); });

TEST(FailingWrites, NameTheFileWhenTheDiskIsFull) {
  LineWriter writer("/dev/full");
  writer.write("text");
  try {
    writer.close();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/dev/full: writing failed: No space left on device");
    EXPECT_THAT(error.hint(), testing::HasSubstr("df -h"));
  }
}

TEST(FailingWrites, OfAWholeFileKeepTheOldOne) {
  const TemporaryFolder folder;
  const std::string path = folder.make("model", "old"), content(3'000'000, 'x');
  int replaced = 0;
  const int failures = fail_each_call([&] { write_atomically(path, [&](FileWriter& file) { file.write(content); }); },
                                      [&] {
                                        EXPECT_EQ(folder.files(), 1);
                                        const std::string found = folder.content_of("model");
                                        EXPECT_TRUE(found == "old" || found == content);
                                        replaced += found == content;
                                      });
  EXPECT_GE(failures, 64);  // open, 60 writes, sync, close, rename, sync of the folder
  EXPECT_EQ(replaced, 1);   // by the rename before the last sync
}

TEST(FailingWrites, OfATemporaryFileAreAnError) {
  const TemporaryFolder folder;
  const std::string content(200'000, 'x');
  const auto write = [&] {
    TemporaryFile file(folder / ".");
    file.append(std::as_bytes(std::span(content)));
    file.flush();
  };
  for (int n = 1; n <= 5; ++n) {  // open, four writes; a failing close does not matter: the file has no name
    const FailingCalls failing(n);
    EXPECT_THROW(write(), Error) << "call " << n;
  }
}

TEST(FailingWrites, OfALogAreAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(fail_each_call([&] {
              auto file = FileDescriptor::to_append(folder / "log");
              file.write("one\n");
              file.write("two\n");
              file.close();
            }),
            4);
}

}  // namespace
}  // namespace dragoman
