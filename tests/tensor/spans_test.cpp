#include "tensor/spans.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Spans, SayWhereEachSentenceBeginsAndEnds) {
  const Spans spans = Spans::of_lengths({3, 0, 5});
  EXPECT_EQ(spans.sentences(), 3);
  EXPECT_EQ(spans.rows(), 8);
  EXPECT_EQ(spans.longest(), 5);
  EXPECT_EQ(spans[1].begin, 3);
  EXPECT_EQ(spans[1].end, 3);
  EXPECT_EQ(spans[2].begin, 3);
  EXPECT_EQ(spans[2].end, 8);
}

TEST(Spans, OfNothingHaveNoRows) {
  for (const Spans& spans : {Spans(), Spans::of_lengths({}), Spans({0})}) {
    EXPECT_EQ(spans.sentences(), 0);
    EXPECT_EQ(spans.rows(), 0);
    EXPECT_EQ(spans.longest(), 0);
  }
}

TEST(Spans, GiveTheirOffsetsToKernels) {
  const Tensor offsets = Spans::of_lengths({3, 5}).offsets();
  EXPECT_EQ(offsets.shape(), Shape{3});
  EXPECT_EQ(offsets.dtype(), DType::i32);
}

TEST(Spans, BeginAtZeroAndDoNotDecrease) {
  const auto breaks = [](const char* invariant) { return ThrowsMessage<std::logic_error>(HasSubstr(invariant)); };
  EXPECT_THAT([] { Spans({1, 2}); }, breaks("begin at row 0"));
  EXPECT_THAT([] { Spans(std::vector<int32_t>{}); }, breaks("begin at row 0"));
  EXPECT_THAT([] { Spans({0, 3, 2}); }, breaks("do not decrease"));
}

}  // namespace
}  // namespace dragoman
