#include "runlog/event_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using namespace std::string_literals;

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

// Length 9, then 0xE3069283 rotated right by 15 bits (0x2507C60D) plus 0xa282ead8.
TEST(TfRecord, FramesDataWithMaskedChecksums) {
  const std::string record = tf_record("123456789");
  ASSERT_EQ(record.size(), 8 + 4 + 9 + 4u);
  EXPECT_EQ(record.substr(0, 8), "\x09\0\0\0\0\0\0\0"s);
  EXPECT_EQ(record.substr(12, 9), "123456789");
  EXPECT_EQ(record.substr(21), "\xE5\xB0\x8A\xC7"s);
}

// By hand from event.proto: 1 wall_time = 1.0, 2 step = 300 (AC 02), 5 summary { 1 value { 1 tag, 2 simple_value } }.
TEST(ScalarsEvent, IsTheProtobufMessage) {
  EXPECT_EQ(scalars_event(1, 300, {{"a/b", 0.5}}),
            "\x09\0\0\0\0\0\0\xF0\x3F"s
            "\x10\xAC\x02"s
            "\x2A\x0C\x0A\x0A"s
            "\x0A\x03"
            "a/b"s
            "\x15\0\0\0\x3F"s);
}

TEST(EventFile, MakesItsFolder) {
  const TemporaryFolder files;
  const EventFile file(files / "a/b", 12);
  const auto made = std::filesystem::directory_iterator(files / "a/b")->path().filename().string();
  EXPECT_TRUE(made.starts_with("events.out.tfevents.0000000012.")) << made;
}

}  // namespace
}  // namespace dragoman
