#include <gmock/gmock.h>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Asks for it when update 3 is reported.
void ask_at_update_3(ToyRun& run, std::atomic<bool> RunControl::*request) {
  run.setup.training.disp_freq = {1, Frequency::updates};
  run.log.listen([&run, request](const std::string& line) {
    if (line.find("Up. 3 : Sen.") != std::string::npos) run.control.*request = true;
  });
}

TEST(Requests, SaveAtOnce) {
  ToyRun run;
  ask_at_update_3(run, &RunControl::save);
  EXPECT_EQ(run.train_until(5).updates, 5);
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("(update 3)"), Not(HasSubstr("(update 4)")), HasSubstr("(update 5)")));
}

TEST(Requests, ValidateAtOnceWithoutChangingTheRun) {
  ToyRun straight;
  straight.setup.training.valid_freq = {4, Frequency::updates};
  straight.train_until(5);
  ToyRun asked;
  asked.setup.training.valid_freq = {4, Frequency::updates};
  ask_at_update_3(asked, &RunControl::validate);
  asked.train_until(5);
  EXPECT_THAT(asked.log.text(), HasSubstr("Up. 3 : cross-entropy : "));
  EXPECT_THAT(asked.log.text(), HasSubstr(" : requested, does not count"));
  EXPECT_TRUE(asked.state_bytes() == straight.state_bytes());
}

TEST(Requests, ForAValidationWithoutASetAreAnswered) {
  ToyRun run;
  run.setup.training.valid_sets.clear();
  ask_at_update_3(run, &RunControl::validate);
  run.train_until(4);
  EXPECT_THAT(run.log.text(), HasSubstr("SIGUSR2 requests a validation, but there are no --valid-sets"));
}

}  // namespace
}  // namespace dragoman
