#include "base/compression.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <stop_token>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "tests/base/named_pipe.h"
#include "tests/error_of.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Lines = std::vector<std::string>;

std::string damage_in(const std::string& path) {
  return error_of([&] { read_lines(path); });
}

class Gzip : public testing::Test {
 protected:
  std::string compressed(const std::string& line) const {
    LineWriter writer(folder / "one.gz");
    writer.write(line);
    writer.close();
    return folder.content_of("one.gz");
  }

  std::vector<std::string> lines_of(const std::string& data) const { return read_lines(folder.make("a.gz", data)); }

  const TemporaryFolder folder;
};

TEST_F(Gzip, MayBePaddedWithZeros) {
  for (const size_t bytes : {1, 512, 200'000})
    EXPECT_THAT(lines_of(compressed("one") + compressed("two") + std::string(bytes, '\0')), ElementsAre("one", "two"));
}

TEST_F(Gzip, IsFollowedByNothingElse) {
  const std::string zeros(512, '\0');
  for (const std::string& rest : {std::string("text"), zeros + "\n", zeros + compressed("two")})
    EXPECT_THAT([&] { lines_of(compressed("one") + rest); },
                ThrowsMessage<Error>(folder / "a.gz" + ": bytes that are no gzip data follow its end"));
  EXPECT_THAT([&] { lines_of(compressed("one") + "\x1f"); }, ThrowsMessage<Error>(HasSubstr("gzip data after line 1")));
}

TEST_F(Gzip, HasTheLengthAndTheChecksumThatItStates) {
  const std::string whole = compressed("one");
  for (const size_t from_end : {1, 5}) {
    std::string damaged = whole;
    damaged[damaged.size() - from_end] ^= 1;
    EXPECT_THAT([&] { lines_of(damaged); }, ThrowsMessage<Error>(HasSubstr("damaged or truncated gzip data")));
  }
}

class CompressedLines : public testing::TestWithParam<std::string> {};

TEST_P(CompressedLines, ComeBackAsTheyWereWritten) {
  TemporaryFolder folder;
  Lines lines;
  for (int i = 0; i < 20'000; ++i) lines.push_back("line " + std::to_string(i * 7919 % 10'007));
  LineWriter writer(folder / "text" + GetParam());
  for (const auto& line : lines) writer.write(line);
  writer.close();
  EXPECT_EQ(read_lines(folder / "text" + GetParam()), lines);
}

TEST_P(CompressedLines, ContinueThroughFilesLaidEndToEnd) {
  TemporaryFolder folder;
  for (std::string name : {"a", "b"}) {
    LineWriter writer(folder / name + GetParam());
    writer.write("of " + name);
  }
  folder.make("both" + GetParam(), folder.content_of("a" + GetParam()) + folder.content_of("b" + GetParam()));
  EXPECT_THAT(read_lines(folder / "both" + GetParam()), ElementsAre("of a", "of b"));
}

TEST_P(CompressedLines, EndInAnErrorWhenTheFileIsCutOffAnywhere) {
  TemporaryFolder folder;
  LineWriter writer(folder / "whole" + GetParam());
  for (int i = 0; i < 200'000; ++i) writer.write(std::to_string(i));
  writer.close();
  const std::string whole = folder.content_of("whole" + GetParam());
  for (size_t bytes : {size_t(0), size_t(2), size_t(4), size_t(5), size_t(11), whole.size() / 2, whole.size() - 1})
    EXPECT_NE(damage_in(folder.make("cut" + GetParam(), whole.substr(0, bytes))), "")
        << bytes << " of " << whole.size() << " bytes";
}

TEST_P(CompressedLines, NameTheLastLineBeforeTheDamage) {
  TemporaryFolder folder;
  LineWriter writer(folder / "whole" + GetParam());
  for (int i = 0; i < 200; ++i) writer.write(std::to_string(i));
  writer.close();
  std::string whole = folder.content_of("whole" + GetParam());
  whole.pop_back();
  const int lines = GetParam() == ".zst" ? 0 : 200;  // zstd decompresses whole blocks, and this is one
  EXPECT_THAT(damage_in(folder.make("cut" + GetParam(), whole)), HasSubstr(fmt::format("data after line {}", lines)));
}

// 200,000 numbers are several blocks of each format.
TEST_P(CompressedLines, ComeBeforeTheDamageAndAreNotReadyAfterwards) {
  TemporaryFolder folder;
  LineWriter writer(folder / "whole" + GetParam());
  for (int i = 0; i < 200'000; ++i) writer.write(std::to_string(i * 7919 % 200'003));
  writer.close();
  std::string damaged = folder.content_of("whole" + GetParam());
  damaged.resize(damaged.size() / 2);
  LineReader reader(folder.make("damaged" + GetParam(), damaged));
  int64_t lines = 0;
  for (std::string line; reader.ready() && reader.next(line); ++lines)
    ASSERT_EQ(line, std::to_string(lines * 7919 % 200'003));
  EXPECT_GT(lines, 50'000);
  for (int again = 0; again < 2; ++again) {
    EXPECT_FALSE(reader.ready());
    EXPECT_TRUE(reader.wait({})) << "next does not block";
    std::string line;
    EXPECT_THAT([&] { reader.next(line); },
                testing::ThrowsMessage<Error>(HasSubstr(" data after line " + std::to_string(lines))));
  }
}

TEST_P(CompressedLines, AreReadyAsSoonAsAPipeHasThem) {
  TemporaryFolder folder;
  const auto compressed = [&](const std::string& line) {
    LineWriter writer(folder / "file" + GetParam());
    writer.write(line);
    writer.close();
    return folder.content_of("file" + GetParam());
  };
  Pipe pipe;
  std::filesystem::create_symlink(pipe.name(), folder / "pipe" + GetParam());
  LineReader reader(folder / "pipe" + GetParam());
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(reader.ready());
  for (const std::string text : {"one", "two"}) {
    const std::string data = compressed(text);
    pipe.send(data.substr(0, 5));
    EXPECT_FALSE(reader.ready());
    EXPECT_FALSE(reader.wait(stopped.get_token()));
    pipe.send(data.substr(5));
    std::string line;
    EXPECT_TRUE(reader.ready() && reader.next(line));
    EXPECT_EQ(line, text);
    EXPECT_FALSE(reader.ready());
  }
  pipe.stop();
  std::string line;
  EXPECT_TRUE(reader.ready());
  EXPECT_FALSE(reader.next(line));
}

TEST_P(CompressedLines, AreNotKeptBackWhileAPipeIsOpen) {
  TemporaryFolder folder;
  Lines lines;
  for (int i = 0; i < 5000; ++i) lines.push_back(std::to_string(i * 7919 % 200'003));
  LineWriter writer(folder / "file" + GetParam());
  for (const std::string& line : lines) writer.write(line);
  writer.close();
  Pipe pipe;
  std::filesystem::create_symlink(pipe.name(), folder / "pipe" + GetParam());
  LineReader reader(folder / "pipe" + GetParam());
  pipe.send(folder.content_of("file" + GetParam()));
  Lines got;
  for (std::string line; reader.ready() && reader.next(line);) got.push_back(line);
  EXPECT_EQ(got, lines);
  pipe.stop();
}

TEST_P(CompressedLines, HoldText) {
  TemporaryFolder folder;
  LineWriter writer(folder / "archive" + GetParam());
  writer.write(std::string("PK\3\4", 4));
  writer.close();
  EXPECT_THAT(damage_in(folder / "archive" + GetParam()),
              HasSubstr(" is a zip archive, compressed, expected compressed text"));
}

TEST_P(CompressedLines, EndInAnErrorWhenTheFileHoldsSomethingElse) {
  TemporaryFolder folder;
  EXPECT_THAT(damage_in(folder.make("plain" + GetParam(), "just a few words of plain text\n")),
              HasSubstr("damaged or truncated"));
}

INSTANTIATE_TEST_SUITE_P(Formats, CompressedLines, testing::Values(".gz", ".xz", ".zst"),
                         [](const auto& info) { return info.param.substr(1); });

}  // namespace
}  // namespace dragoman
