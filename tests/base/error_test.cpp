#include "base/error.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace dragoman {
namespace {

using testing::ContainsRegex;
using testing::ThrowsMessage;

TEST(Invariant, ThatIsBrokenIsThrownWithItsPlaceAndIsNoErrorOfTheUser) {
  invariant(true, "holds");
  const auto broken = [] { invariant(false, "one and one are two"); };
  EXPECT_THAT(broken, ThrowsMessage<std::logic_error>(
                          ContainsRegex("broken invariant: one and one are two \\(.*error_test.cpp:[0-9]+\\)")));
}

}  // namespace
}  // namespace dragoman
