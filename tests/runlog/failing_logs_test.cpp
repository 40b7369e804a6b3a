#include <gmock/gmock.h>

#include "base/error.h"
#include "base/log.h"
#include "runlog/event_file.h"
#include "runlog/json_log.h"
#include "runlog/message_file.h"
#include "runlog/run_log.h"
#include "runlog/tensorboard.h"
#include "runlog/valid_log.h"
#include "tests/error_of.h"
#include "tests/failing_calls.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

constexpr RunMoment now = {.updates = 7};

TEST(FailingWrites, OfRunLogsAreAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(fail_each_call([&] {
              JsonLog log(folder / "log");
              log.take(now, RunEnd{});
              log.take(now, RunEnd{});
              log.close();
            }),
            4);
  EXPECT_EQ(fail_each_call([&] {
              TensorBoardLog log(folder / "events");
              log.take(now, RunReport{});
              log.close();
            }),
            4);
  EXPECT_EQ(fail_each_call([&] {
              ValidLog log(folder / "valid.log");
              log.take(now, RunValidation{.figures = {{.metric = "bleu"}}});
              log.take(now, RunReport{});
              log.close();
            }),
            3);
  EXPECT_EQ(fail_each_call([&] {
              MessageFile messages(folder / "messages");
              log_info("one");
              log_warning("two");
              messages.close();
            }),
            4);
}

// Whichever call fails: the run hears of it only at its end.
TEST(FailingWrites, OfARunsLogsAreKeptForItsEnd) {
  const TemporaryFolder folder;
  const RunLogOptions options{.log_json = folder / "log", .tensorboard = folder / "events"};
  Unwritten unwritten;
  const int failures = fail_each_call([&] {
    unwritten = {};
    RunLog log(options, unwritten);
    EXPECT_NO_THROW({
      log.announce(now, RunReport{});
      log.announce(now, RunEnd{});
      log.close();
    });
    unwritten.require_none();
  });
  EXPECT_EQ(failures, 8);  // of each file: open, two writes, close
}

// As `--log >(head)` may have it: that is no error for stdout either.
TEST(RunLogs, LetTheirReadersGo) {
  const TemporaryFolder folder;
  const FileCalls system = file_calls();
  file_calls().write = [](int, const void*, size_t) -> ssize_t {
    errno = EPIPE;
    return -1;
  };
  std::string heard;
  const LogSink other = [&](LogLevel, std::string_view message) { heard += message; };
  const LogScope scope(&other);
  Unwritten unwritten;
  RunLog log({.log_json = folder / "json"}, unwritten);
  MessageFile messages(folder / "log");
  log.announce(now, RunSkip{});
  log.close();
  EXPECT_NO_THROW(messages.close());
  EXPECT_NO_THROW(unwritten.require_none());
  file_calls() = system;
  EXPECT_THAT(heard, testing::HasSubstr("messages no longer go to --log"));
  EXPECT_THAT(heard, testing::HasSubstr("training continues without --log-json: its reader has closed it"));
}

TEST(Unwritten, NamesEveryOutputAndItsFirstFailure) {
  Unwritten unwritten;
  unwritten.require_none();
  unwritten.add("--log-json", "a: full");
  unwritten.add("--log-json", "a: still full");
  unwritten.add("--tensorboard", "b: full");
  try {
    unwritten.require_none();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "not all output of the run was written: --log-json: a: full; --tensorboard: b: full");
  }
  unwritten.forget("--log-json");
  unwritten.forget("--tensorboard");
  EXPECT_NO_THROW(unwritten.require_none());
}

TEST(Unwritten, AdvisesToFreeSpaceOnlyIfSpaceIsLacking) {
  const auto hint = [](const std::string& failure) {
    Unwritten unwritten;
    unwritten.add("--keep-best (bleu)", failure);
    return thrown_by([&] { unwritten.require_none(); }).hint();
  };
  for (const char* full : {"m: writing failed: No space left on device", "m: writing failed: Disk quota exceeded",
                           "it needs 3 MiB, and the next save 9 MiB, but the disk of . has 2 MiB free"})
    EXPECT_THAT(hint(full), testing::HasSubstr("free some space (df -h) before the next run")) << full;
  for (const char* other :
       {"m exists and is not a regular file, so it is not replaced", "m: writing failed: Is a directory"})
    EXPECT_THAT(hint(other), testing::AllOf(testing::HasSubstr("are saved; mend what the message names before"),
                                            testing::Not(testing::HasSubstr("space"))))
        << other;
}

TEST(MessageFile, BeginsALineOfItsOwnAfterHalfALine) {
  const TemporaryFolder folder;
  MessageFile(folder.make("log", "[2026-11-27 12:00:00] Ep. 1 : U")).write("whole");
  EXPECT_THAT(folder.content_of("log"),
              testing::MatchesRegex("\\[2026-11-27 12:00:00\\] Ep. 1 : U\n\\[....-..-.. ..:..:..\\] whole\n"));
}

TEST(MessageFile, HasWhatTheOtherSinkHas) {
  const TemporaryFolder folder;
  const std::string path = folder.make("log", "before\n");
  std::string heard;
  const LogSink other = [&](LogLevel, std::string_view message) { heard += message; };
  const LogScope scope(&other);
  MessageFile messages(path);
  log_info("one");
  messages.write("error: two");
  messages.close();
  EXPECT_EQ(heard, "one");
  EXPECT_THAT(folder.content_of("log"),
              testing::MatchesRegex("before\n\\[....-..-.. ..:..:..\\] one\n\\[....-..-.. ..:..:..\\] error: two\n"));
}

}  // namespace
}  // namespace dragoman
