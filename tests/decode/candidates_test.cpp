#include "decode/candidates.h"

#include <gmock/gmock.h>

#include "tensor/arena.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(Candidates, AreJoinedInAscendingOrder) {
  Candidates c;
  c.add(7, {2, 5, 9});
  c.add(3, {2, 4});
  EXPECT_THAT(c.join(), ElementsAre(2, 4, 5, 9));
  EXPECT_THAT(c.pieces(7), ElementsAre(2, 5, 9));
  c.remove(7);
  EXPECT_THAT(c.join(), ElementsAre(2, 4));
  c.remove(3);
  EXPECT_TRUE(c.empty());
}

TEST(Candidates, TakeTheirScoresOutOfThoseOfAll) {
  Candidates c;
  c.add(0, {2, 5, 9});
  c.add(1, {4});
  c.join();  // 2 4 5 9
  Arena arena;
  std::vector<float> joint = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Tensor own = arena.allocate({3, c.columns()}, DType::f32);
  c.take(own, Tensor::borrow(joint.data(), {3, 4}), std::vector{0, 0, 1});
  const auto row = [&](int64_t r) { return std::vector(own.view<float>().row(r), own.view<float>().row(r) + 4); };
  EXPECT_THAT(row(0), ElementsAre(1, 3, 4, impossible));
  EXPECT_THAT(row(1), ElementsAre(5, 7, 8, impossible));
  EXPECT_THAT(row(2), ElementsAre(10, impossible, impossible, impossible));
}

TEST(Candidates, FillWholeVectors) {  // otherwise top_k would sum them in another order if more columns follow
  Candidates c;
  c.add(0, {2});
  EXPECT_EQ(c.columns(), 64);
  c.add(1, std::vector<int32_t>(65, 4));
  EXPECT_EQ(c.columns(), 128);
}

}  // namespace
}  // namespace dragoman
