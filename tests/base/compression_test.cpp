#include "base/compression.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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

}  // namespace
}  // namespace dragoman
