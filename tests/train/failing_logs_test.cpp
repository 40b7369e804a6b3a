#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/failing_calls.h"
#include "tests/temporary_folder.h"
#include "train/event_file.h"
#include "train/json_log.h"

namespace dragoman {
namespace {

// Each call but the last, the close of a file that is written without a buffer, which ends in a warning.
void expect_errors(int calls, const std::function<void()>& write) {
  for (int n = 1; n <= calls; ++n) {
    const FailingCalls failing(n);
    EXPECT_THROW(write(), Error) << "call " << n;
  }
}

TEST(FailingWrites, OfRunLogsAreAnError) {
  const TemporaryFolder folder;
  expect_errors(3, [&] {
    JsonLog log(folder / "log");
    log.take({}, RunEnd{});
    log.take({}, RunEnd{});
  });
  expect_errors(3, [&] {
    EventFile file(folder / "events", 0);
    file.write("an event");
  });
}

}  // namespace
}  // namespace dragoman
