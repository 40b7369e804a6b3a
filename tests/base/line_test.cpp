#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "tests/base/named_pipe.h"
#include "tests/error_of.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"
#include "tests/train/log_lines.h"
#include "tests/without_rights.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

std::string message_of_reading(const std::string& path) {
  return error_of([&] { read_lines(path); });
}

TEST(LineReader, EndsALineAtLineFeedsOnly) {
  TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.make("a", "one\n\ntwo\u2028still two\x0B\x0C\u0085\n")),
              ElementsAre("one", "", "two\u2028still two\x0B\x0C\u0085"));
  EXPECT_THAT(read_lines(folder.make("b", "dos\r\nin\rside\nlast\r")), ElementsAre("dos", "in\rside", "last"));
  EXPECT_THAT(read_lines(folder.make("c", std::string("a\0b\n\0", 5))),
              ElementsAre(std::string("a\0b", 3), std::string("\0", 1)));
}

TEST(LineReader, LeavesOutAByteOrderMarkAtTheVeryBeginning) {
  TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.make("a", "\uFEFFone\n\uFEFFtwo\n")), ElementsAre("one", "\uFEFFtwo"));
  EXPECT_THAT(read_lines(folder.make("b", "\uFEFF\uFEFFone")), ElementsAre("\uFEFFone"));
  EXPECT_THAT(read_lines(folder.make("c", "\uFEFF")), IsEmpty());
  EXPECT_THAT(read_lines(folder.make("d", "\uFEFF\n")), ElementsAre(""));
  EXPECT_THAT(read_lines(folder.make("e", "\n\uFEFF")), ElementsAre("", "\uFEFF"));
  EXPECT_THAT(read_lines(folder.make("f", "\xEF\xBB")), ElementsAre("\uFFFD"));

  LineReader reader(folder.make("g", "\uFEFFtwelve bytes"));
  std::string part;
  bool more = false;
  EXPECT_TRUE(reader.next_segment(part, 12, more) && !more);
  EXPECT_EQ(part, "twelve bytes");
}

TEST(LineReader, LeavesOutAByteOrderMarkThatComesByteByByte) {
  Pipe pipe;
  LineReader reader(pipe.name());
  for (const char* byte : {"\xEF", "\xBB", "\xBF"}) {
    pipe.send(byte);
    EXPECT_FALSE(reader.ready());
  }
  pipe.send("one\n");
  std::string line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "one");
}

TEST(LineReader, RefusesBinaryDataThatComesByteByByte) {
  using namespace std::string_view_literals;
  for (const auto& [data, kind] :
       {std::pair("\x1f\x8b\x08"sv, "holds gzip data"), std::pair("BZh91AY&SY1234\0"sv, "holds bzip2 data"),
        std::pair("\xFF\xFEg\0"sv, "mark of UTF-16")}) {
    Pipe pipe;
    LineReader reader(pipe.name());
    for (const char byte : data.substr(0, data.size() - 1)) {
      pipe.send({&byte, 1});
      try {
        EXPECT_FALSE(reader.ready());
      } catch (const Error&) {
        break;
      }
    }
    pipe.send(data.substr(data.size() - 1));
    std::string line;
    EXPECT_THAT([&] { reader.next(line); }, testing::ThrowsMessage<Error>(HasSubstr(kind)));
  }
}

TEST(LineReader, NeverWaitsForMoreThanALine) {
  Pipe pipe;
  LineReader reader(pipe.name());
  std::string line;
  pipe.send("B\n");
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next(line) && line == "B");
  pipe.send("\x1f\x8b\n");
  EXPECT_TRUE(reader.next(line) && line == "\x1f\uFFFD") << "only the first bytes tell what a file is";
}

TEST(LineReader, NamesUtf16) {
  TemporaryFolder folder;
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"})
    for (const std::string& text : {std::string("a\0", 2), std::string("\0a\0\n", 4)})
      EXPECT_THAT(message_of_reading(folder.make("a", mark + text)),
                  HasSubstr("begins with a byte-order mark of UTF-16"));
}

TEST(LineReader, TakesTheMarkOfUtf16WithoutAZeroForBrokenBytes) {
  TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.make("a", "\xFF\xFE broken\n")), ElementsAre("\uFFFD\uFFFD broken"));
}

TEST(LineReader, TakesALastLineWithoutItsEnd) {
  TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.make("a", "one\ntwo")), ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(folder.make("b", "one\n")), ElementsAre("one"));
  EXPECT_THAT(read_lines(folder.make("c", "\n")), ElementsAre(""));
  EXPECT_THAT(read_lines(folder.make("d", "")), IsEmpty());
}

TEST(LineReader, TakesLinesOfAnyLength) {
  TemporaryFolder folder;
  const std::string mebibyte(1 << 20, 'm'), odd(300'001, 'o');
  EXPECT_EQ(read_lines(folder.make("a", mebibyte + "\n" + odd + "\n\n" + mebibyte)),
            (Lines{mebibyte, odd, "", mebibyte}));
}

// The results of next_segment for a text, with `+` where the line continues.
Lines parts_of(const std::string& text, size_t longest) {
  TemporaryFolder folder;
  LineReader reader(folder.make("a", text));
  Lines parts;
  bool more = false;
  for (std::string part; reader.next_segment(part, longest, more);) parts.push_back(part + (more ? "+" : ""));
  EXPECT_EQ(reader.lines(), std::count(text.begin(), text.end(), '\n') + !text.ends_with('\n'));
  return parts;
}

TEST(LineReader, GivesALongLineInParts) {
  EXPECT_THAT(parts_of("12345678\n123456789\r\n", 8), ElementsAre("12345678", "12345678+", "9"));
  EXPECT_THAT(parts_of("1234 67 901234567", 8), ElementsAre("1234 67+", "90123456+", "7")) << "at the last blank";
  EXPECT_THAT(parts_of("12 456789", 8), ElementsAre("12 45678+", "9")) << "not at a blank in the first half";
  EXPECT_THAT(parts_of("1234567\u20ac90123", 8), ElementsAre("1234567+", "\u20ac90123")) << "not inside of a character";
  EXPECT_THAT(parts_of("12345678 ", 8), ElementsAre("12345678+", ""))
      << "a line ends also where the file ends with a blank";
}

TEST(LineReader, GivesTheSamePartsOfALineThatIsLongerThanItsBuffer) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + " ";
  std::string joined;
  for (const std::string& part : parts_of(text, 1000))
    joined += part.back() == '+' ? part.substr(0, part.size() - 1) + " " : part;
  EXPECT_EQ(joined, text);
}

TEST(LineReader, CountsABrokenLineThatComesInPartsOnce) {
  TemporaryFolder folder;
  const LogLines log;
  LineReader reader(folder.make("a", "fine\n\xff 345678 \xff 345678\n"));
  bool more = false;
  for (std::string part; reader.next_segment(part, 8, more);) {}
  EXPECT_EQ(reader.invalid_lines(), 1);
  EXPECT_THAT(log.text(), HasSubstr(": 1 line is not valid UTF-8, the first is line 2;"));
}

TEST(LineReader, IsReadyForAPartOfALine) {
  Pipe pipe;
  LineReader reader(pipe.name());
  pipe.send("12345678");
  EXPECT_FALSE(reader.ready(8));
  pipe.send("9");
  EXPECT_TRUE(reader.ready(8));
  EXPECT_FALSE(reader.ready());
}

TEST(LineReader, ReportsHowMuchOfAFileIsRead) {
  TemporaryFolder folder;
  LineReader reader(folder.make("a", "one\ntwo\nthree\nfour\n"));
  std::string line;
  EXPECT_EQ(reader.share(), 0);
  for (int i = 0; i < 2; ++i) reader.next(line);
  EXPECT_DOUBLE_EQ(reader.share(), 8.0 / 19);
  Pipe pipe;
  EXPECT_EQ(LineReader(pipe.name()).share(), -1);
}

TEST(LineReader, ReplacesAndCountsInvalidUtf8) {
  TemporaryFolder folder;
  const LogLines log;
  LineReader reader(folder.make("a", "good\nb\xFFz\ngood\n\xC3"));
  Lines lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  EXPECT_THAT(lines, ElementsAre("good", "b\uFFFDz", "good", "\uFFFD"));
  EXPECT_EQ(reader.lines(), 4);
  EXPECT_EQ(reader.invalid_lines(), 2);
  EXPECT_THAT(log.text(), HasSubstr(": 2 lines are not valid UTF-8, the first is line 2;"));
}

TEST(LineReader, IsNotReadyWhileOnlyAPartOfALineIsThere) {
  Pipe pipe;
  LineReader reader(pipe.name());
  std::string line;
  EXPECT_FALSE(reader.ready());
  pipe.send("one\ntwo\nthr");
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next(line) && line == "one");
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next(line) && line == "two");
  EXPECT_FALSE(reader.ready());
  pipe.send("ee\n");
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next(line) && line == "three");
  EXPECT_FALSE(reader.ready());
  pipe.stop();
  EXPECT_TRUE(reader.ready());
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, IsReadyForALastLineWithoutItsEndOnceThePipeIsClosed) {
  Pipe pipe;
  LineReader reader(pipe.name());
  pipe.send("last");
  EXPECT_FALSE(reader.ready());
  pipe.stop();
  std::string line;
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next(line) && line == "last");
  EXPECT_TRUE(reader.ready());
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, SaysWhatItCannotRead) {
  TemporaryFolder folder;
  EXPECT_EQ(message_of_reading(folder / "gone"), folder / "gone" + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message_of_reading(folder / "."), folder / "." + " is a folder, expected a file");
}

TEST(LineReader, SaysThatItMayNotRead) {
  TemporaryFolder folder;
  const std::string locked = folder.make("locked", "text\n");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  const WithoutRights user(folder / ".");
  EXPECT_EQ(message_of_reading(locked), locked + ": cannot be opened: Permission denied");
}

TEST(LineReader, RefusesALineThatMemoryNeedNotHold) {
  TemporaryFolder folder;
  LineWriter writer(folder / "bomb.gz");  // a line of 256 MiB in a few hundred kilobytes
  const std::string mebibyte(1 << 20, 'm');
  for (int i = 0; i < 256; ++i) writer.write_segment(mebibyte);
  writer.close();
  EXPECT_EQ(message_of_reading(folder / "bomb.gz"), folder / "bomb.gz" + ": line 1 is longer than 16 MiB");
  EXPECT_EQ(message_of_reading(folder.make("a", std::string(LineReader::longest_line, 'm'))), "");
}

// "one", "two" in a few bytes whose headers ask for far more (xz --lzma2=dict=768MiB, zstd --ultra --long=30).
TEST(LineReader, RefusesCompressedTextThatAsksForTooMuchMemory) {
  using namespace std::string_literals;
  TemporaryFolder folder;
  const std::string xz = folder.make(
      "a.xz",
      "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x23\x00\x00\x00\xe7\x27\x10\x64\x01\x00\x07"
      "one\ntwo\n\x00\x51\xab\x9e\xaf\x57\x75\x70\x49\x00\x01\x20\x08\xbb\x19\xd9\xbb\x1f\xb6\xf3\x7d\x01\x00\x00\x00"
      "\x00"
      "\x04\x59\x5a"s);
  const std::string zstd = folder.make("a.zst",
                                       "\x28\xb5\x2f\xfd\x04\xa0\x41\x00\x00"
                                       "one\ntwo\n\xe6\xa6\x0e\x40"s);
  EXPECT_EQ(message_of_reading(xz), xz + " needs 769 MiB of memory to be decompressed, expected 130 MiB at most");
  EXPECT_EQ(message_of_reading(zstd),
            zstd + " needs more than 128 MiB of memory to be decompressed, expected 128 MiB at most");
}

TEST(LineWriter, WritesWhatWasFlushedAndTheRestWhenClosed) {
  TemporaryFolder folder;
  LineWriter writer(folder / "out");
  writer.write("one");
  EXPECT_EQ(folder.content_of("out"), "");
  writer.flush();
  EXPECT_EQ(folder.content_of("out"), "one\n");
  writer.write(std::string("t\0o", 3));
  writer.close();
  EXPECT_EQ(folder.content_of("out"), std::string("one\nt\0o\n", 8));
}

TEST(LineWriter, LeftByAnExceptionBeforeItsFirstOutputLeavesTheFileAsItWas) {
  TemporaryFolder folder;
  for (const std::string name : {"out", "out.gz"}) {
    const std::string path = folder.make(name, "what was there");
    { LineWriter(path).write("new"); }
    EXPECT_EQ(folder.content_of(name), "what was there");
    LineWriter(path).close();
    EXPECT_THAT(read_lines(path), IsEmpty());
  }
}

TEST(LineWriter, DistinguishesABrokenPipeFromAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  LineWriter writer("/dev/fd/" + std::to_string(pipe.ends[1]));
  close(std::exchange(pipe.ends[0], -1));
  writer.write("text");
  EXPECT_THROW(writer.flush(), BrokenPipe);
  EXPECT_NO_THROW(writer.close());
}

}  // namespace
}  // namespace dragoman
