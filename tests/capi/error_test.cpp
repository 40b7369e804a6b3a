#include "capi/error.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tensor/arena.h"

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
  EXPECT_EQ(status(OutOfMemory("a")), DRAGOMAN_OUT_OF_MEMORY);
  EXPECT_EQ(status(5), DRAGOMAN_BUG);
  EXPECT_EQ(guarded(&error, [] { invariant(false, "two and two are four"); }), DRAGOMAN_BUG);
  EXPECT_THAT(dragoman_error_message(error), testing::HasSubstr("two and two are four"));
  dragoman_error_free(error);
  EXPECT_EQ(guarded(nullptr, [] {}), DRAGOMAN_OK);
}

TEST(CApiError, SaysWhatToDoWithoutMemory) {
  const auto hint = [](const OutOfMemory& error) { return failure_of(std::make_exception_ptr(error)).error.hint; };
  EXPECT_EQ(hint(OutOfMemory("a", "b")), "b");
  EXPECT_THAT(hint(OutOfMemory("a")), testing::HasSubstr("translate shorter texts"));
}

}  // namespace
}  // namespace dragoman
