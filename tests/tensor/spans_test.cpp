#include "tensor/spans.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

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

TEST(SpansDeathTest, BeginAtZeroAndDoNotDecrease) {
  EXPECT_DEATH(Spans({1, 2}), "begin at row 0");
  EXPECT_DEATH(Spans(std::vector<int32_t>{}), "begin at row 0");
  EXPECT_DEATH(Spans({0, 3, 2}), "do not decrease");
}

}  // namespace
}  // namespace dragoman
