#include "serve/access_log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file_calls.h"
#include "base/log.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// While this lives, only so many more bytes can be written.
class FullDisk {
 public:
  explicit FullDisk(size_t bytes) {
    room = bytes;
    file_calls().write = [](int file, const void* data, size_t size) -> ssize_t {
      const ssize_t done = ::write(file, data, std::min(size, room));
      room -= size_t(done);
      if (done > 0) return done;
      errno = ENOSPC;
      return -1;
    };
  }
  ~FullDisk() { file_calls() = before_; }

 private:
  static inline size_t room = 0;
  const FileCalls before_ = file_calls();
};

class AccessLogTest : public testing::Test {
 protected:
  void log(const std::string& path) { log_.write({.peer = "::1", .method = "GET", .path = path}); }
  static std::string read(const std::string& file) { return std::filesystem::exists(file) ? read_file(file) : "none"; }
  /// The paths of the entries; "?" for a line that is no entry.
  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    std::istringstream lines(read(file_));
    for (std::string line; std::getline(lines, line);) {
      const auto entry = nlohmann::json::parse(line, nullptr, false);
      all.push_back(entry.is_object() ? entry["path"] : "?");
    }
    return all;
  }

  const TemporaryFolder folder_;
  const std::string file_ = folder_ / "log";
  AccessLog log_{file_};
  std::vector<std::string> warnings_;
  const LogSink sink_ = [this](LogLevel, std::string_view message) { warnings_.emplace_back(message); };
  const LogScope scope_{&sink_};
};

TEST_F(AccessLogTest, LosesOnlyWhatCannotBeWritten) {
  log("/a");
  {
    const FullDisk full(0);
    log("/lost");
    log("/lost");
  }
  log("/b");
  EXPECT_THAT(paths(), ElementsAre("/a", "/b"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("Entries of the access log are lost: ")));
  const FullDisk full(0);
  log("/lost");
  EXPECT_EQ(warnings_.size(), 2);
}

TEST_F(AccessLogTest, EndsALineThatWasCut) {
  for (const size_t room : {20, 1, 1, 0}) {  // the first cuts an entry, the next ends the line, the next cuts another
    const FullDisk full(room);
    log("/lost");
  }
  log("/a");
  log("/b");
  EXPECT_THAT(paths(), ElementsAre("?", "?", "/a", "/b"));
}

TEST_F(AccessLogTest, IsOpenedAnew) {
  log("/a");
  std::filesystem::rename(file_, folder_ / "old");
  {
    const FullDisk full(20);
    log("/lost");
  }
  log_.reopen();
  log("/b");
  EXPECT_THAT(paths(), ElementsAre("/b"));
  EXPECT_THAT(read(folder_ / "old"), HasSubstr("\"/a\""));
}

TEST_F(AccessLogTest, EndsALineThatWasCutAlsoAfterItWasOpenedAnew) {
  {
    const FullDisk full(20);
    log("/lost");
  }
  log_.reopen();
  log("/a");
  EXPECT_THAT(paths(), ElementsAre("?", "/a"));
}

TEST_F(AccessLogTest, KeepsItsFileIfItCannotBeOpenedAnew) {
  std::filesystem::rename(file_, folder_ / "old");
  std::filesystem::create_directory(file_);
  log_.reopen();
  log("/a");
  EXPECT_THAT(read(folder_ / "old"), HasSubstr("\"/a\""));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("The access log cannot be opened again")));
}

}  // namespace
}  // namespace dragoman
