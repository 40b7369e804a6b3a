#include <gmock/gmock.h>

#include <csignal>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Sends the signal to the process when update 3 is reported.
void raise_at_update_3(ToyRun& run, int signal) {
  run.setup.training.disp_freq = {1, Frequency::updates};
  run.log.listen([=](const std::string& line) {
    if (line.find("Up. 3 : Sen.") != std::string::npos) std::raise(signal);
  });
}

TEST(Requests, SaveByAUserSignal) {
  ToyRun run;
  raise_at_update_3(run, SIGUSR1);
  EXPECT_EQ(run.train_until(5).updates, 5);
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("(update 3)"), Not(HasSubstr("(update 4)")), HasSubstr("(update 5)")));
}

TEST(Requests, ValidateByAUserSignalWithoutChangingTheRun) {
  ToyRun straight;
  straight.setup.training.valid_freq = {4, Frequency::updates};
  straight.train_until(5);
  ToyRun asked;
  asked.setup.training.valid_freq = {4, Frequency::updates};
  raise_at_update_3(asked, SIGUSR2);
  asked.train_until(5);
  EXPECT_THAT(asked.log.text(), HasSubstr("Up. 3 : cross-entropy : "));
  EXPECT_THAT(asked.log.text(), HasSubstr(" : asked for, does not count"));
  EXPECT_TRUE(asked.state_bytes() == straight.state_bytes());
}

TEST(Requests, ForAValidationWithoutASetAreAnswered) {
  ToyRun run;
  run.setup.training.valid_sets.clear();
  raise_at_update_3(run, SIGUSR2);
  run.train_until(4);
  EXPECT_THAT(run.log.text(), HasSubstr("SIGUSR2 asks for a validation, but there are no --valid-sets"));
}

}  // namespace
}  // namespace dragoman
