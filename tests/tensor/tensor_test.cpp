#include "tensor/tensor.h"

#include <gmock/gmock.h>

#include <array>
#include <stdexcept>

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Numbered : testing::Test {
  std::array<float, 12> data{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Tensor x = Tensor::borrow(data.data(), {3, 4});
};

TEST_F(Numbered, RowsAndColumnsAreSeenThroughAView) {
  const auto X = x.view<float>();
  EXPECT_EQ(X.rows, 3);
  EXPECT_EQ(X.cols, 4);
  EXPECT_EQ(X(2, 1), 9);
  EXPECT_EQ(X.row(1)[3], 7);
}

TEST_F(Numbered, ColumnsShareMemoryAndKeepTheStride) {
  const Tensor part = x.columns(1, 2);
  EXPECT_EQ(part.shape(), (Shape{3, 2}));
  EXPECT_EQ(part.stride(), 4);
  EXPECT_FALSE(part.contiguous());
  EXPECT_EQ(part.view<float>()(2, 1), 10);
  part.view<float>()(0, 0) = 99;
  EXPECT_EQ(data[1], 99);
}

TEST_F(Numbered, RowRangesOfColumnsStartAtTheirRow) {
  const Tensor part = x.columns(1, 2).row_range(1, 2);
  EXPECT_EQ(part.shape(), (Shape{2, 2}));
  EXPECT_EQ(part.view<float>()(0, 0), 5);
  EXPECT_EQ(part.view<float>()(1, 1), 10);
  EXPECT_TRUE(x.row_range(1, 2).contiguous());
}

TEST_F(Numbered, RangesOfAVectorAreElements) {
  const Tensor v = x.reshaped({12}).row_range(5, 3);
  EXPECT_EQ(v.shape(), Shape{3});
  EXPECT_EQ(v.view<float>()(2), 7);
  EXPECT_TRUE(v.contiguous());
}

TEST_F(Numbered, ReshapingKeepsTheOrderOfElements) {
  EXPECT_EQ(x.reshaped({2, 6}).view<float>()(1, 0), 6);
  EXPECT_EQ(x.reshaped({2, 2, 3}).rows(), 4);  // the product of all but the last extent
}

TEST(Tensor, OfRankZeroStandsForNotThere) {
  const Tensor none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.elements(), 0);
  EXPECT_FALSE(none.view<float>());
}

TEST(Tensor, WithoutRowsOrColumnsIsStillThere) {
  float nothing = 0;
  const Tensor no_rows = Tensor::borrow(&nothing, {0, 5}), no_columns = Tensor::borrow(&nothing, {5, 0});
  EXPECT_TRUE(no_rows);
  EXPECT_EQ(no_rows.rows(), 0);
  EXPECT_EQ(no_rows.cols(), 5);
  EXPECT_EQ(no_columns.rows(), 5);
  EXPECT_EQ(no_columns.elements(), 0);
}

auto breaks(const char* invariant) { return ThrowsMessage<std::logic_error>(HasSubstr(invariant)); }

TEST_F(Numbered, IsNotReadAsAnotherType) {
  EXPECT_THAT([&] { x.as<double>(); }, breaks("a different element type"));
}

TEST_F(Numbered, HasNoPartsOutsideOfIt) {
  EXPECT_THAT([&] { x.columns(3, 2); }, breaks("columns outside"));
  EXPECT_THAT([&] { x.row_range(2, 2); }, breaks("rows outside"));
  EXPECT_THAT([&] { x.columns(0, 2).reshaped({6}); }, breaks("keeps the number of elements"));
}

TEST(Shape, PrintsItsExtents) {
  EXPECT_EQ(fmt::format("{}", Shape{29, 512}), "(29,512)");
  EXPECT_EQ(fmt::format("{}", Shape{7}), "(7)");
  EXPECT_EQ(fmt::format("{}", Shape{}), "()");
}

TEST(Shape, DiffersByRankAndExtent) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
}

TEST(DType, HasASizeANameAndAStatisticsType) {
  EXPECT_EQ(size_of(DType::f64), 8);
  EXPECT_EQ(size_of(DType::bf16), 2);
  EXPECT_EQ(size_of(DType::u8), 1);
  EXPECT_EQ(name_of(DType::bf16), "BF16");
  EXPECT_EQ(stat_type(DType::f64), DType::f64);
  EXPECT_EQ(stat_type(DType::bf16), DType::f32);
}

TEST(DType, WithoutKernelsIsRefusedByName) {
  EXPECT_THROW(for_dtype(DType::u8, []<class T>() {}), Error);
}

}  // namespace
}  // namespace dragoman
