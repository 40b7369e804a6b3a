#include "decode/repeats.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Pieces = std::vector<int32_t>;

TEST(RepeatingPieces, AreThoseThatFollowedTheLastOnesBefore) {
  EXPECT_THAT(repeating_pieces(Pieces{5, 6, 7, 5, 6, 8, 5, 6}, 3), ElementsAre(7, 8));
  EXPECT_THAT(repeating_pieces(Pieces{5, 6, 7, 6}, 2), ElementsAre(7));
  EXPECT_THAT(repeating_pieces(Pieces{5, 6, 7}, 2), IsEmpty());
}

TEST(RepeatingPieces, AreAllWhereNoPieceMayComeTwice) {
  EXPECT_THAT(repeating_pieces(Pieces{5, 6, 7}, 1), ElementsAre(5, 6, 7));
}

TEST(RepeatingPieces, ThatOverlapCountToo) { EXPECT_THAT(repeating_pieces(Pieces{5, 5, 5}, 3), ElementsAre(5)); }

TEST(RepeatingPieces, AreNoneInWhatIsShort) {
  EXPECT_THAT(repeating_pieces(Pieces{}, 1), IsEmpty());
  EXPECT_THAT(repeating_pieces(Pieces{5}, 3), IsEmpty());
  EXPECT_THAT(repeating_pieces(Pieces{5, 5}, 3), IsEmpty());
}

}  // namespace
}  // namespace dragoman
