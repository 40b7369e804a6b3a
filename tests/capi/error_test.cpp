#include "capi/error.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace dragoman {
namespace {

TEST(CApiError, MakesAStatusOfEveryException) {
  dragoman_error* error = nullptr;
  const auto status = [&](auto thrown) {
    const auto status = guarded(&error, [&] { throw thrown; });
    dragoman_error_free(std::exchange(error, nullptr));
    return status;
  };
  EXPECT_EQ(status(Error("a")), DRAGOMAN_ERROR);
  EXPECT_EQ(status(std::filesystem::filesystem_error("a", "b", std::error_code())), DRAGOMAN_ERROR);
  EXPECT_EQ(status(std::bad_alloc()), DRAGOMAN_OUT_OF_MEMORY);
  EXPECT_EQ(status(5), DRAGOMAN_BUG);
  EXPECT_EQ(guarded(&error, [] { invariant(false, "two and two are four"); }), DRAGOMAN_BUG);
  EXPECT_THAT(dragoman_error_message(error), testing::HasSubstr("two and two are four"));
  dragoman_error_free(error);
  EXPECT_EQ(guarded(nullptr, [] {}), DRAGOMAN_OK);
}

}  // namespace
}  // namespace dragoman
