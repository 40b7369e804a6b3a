#include "align/translation_table.h"

#include <gmock/gmock.h>

#include <cmath>

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(Digamma, IsWhatTablesSay) {
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-11);  // -γ
  EXPECT_NEAR(digamma(0.5), -0.57721566490153286 - 2 * std::log(2), 1e-11);
  EXPECT_NEAR(digamma(10), 2.2517525890667211, 1e-11);
}

TEST(Digamma, GrowsByOneOverX) {
  for (const double x : {1e-3, 0.01, 0.7, 3.0, 9.99, 100.0, 1e9})
    EXPECT_NEAR(digamma(x + 1) - digamma(x), 1 / x, 1e-9 * std::max(1.0, 1 / x));
}

ParallelIds two_pairs() {
  ParallelIds pairs;
  pairs.add(std::vector{0, 2}, std::vector{5, 3, 5});
  pairs.add(std::vector{2}, std::vector{4});
  return pairs;
}

TEST(TranslationTable, HasWhatMetAndNothingElse) {
  const TranslationTable table(two_pairs(), 3);
  EXPECT_THAT(table.of(0).targets, ElementsAre(3, 5));
  EXPECT_THAT(table.of(1).targets, ElementsAre());
  EXPECT_THAT(table.of(2).targets, ElementsAre(3, 4, 5));
  EXPECT_THAT(table.of(table.nothing()).targets, ElementsAre(3, 4, 5));
  EXPECT_EQ(table.find(0, 4), TranslationTable::none);
  EXPECT_EQ(table.find(1, 4), TranslationTable::none);
}

TEST(TranslationTable, SharesProbabilityOutByCounts) {
  TranslationTable table(two_pairs(), 3);
  table.count(table.find(0, 5), 0.5);
  table.count(table.find(0, 3), 0.25);
  table.count(table.find(0, 5), 0.25);
  table.count(table.find(2, 4), 3);
  table.estimate(0);
  EXPECT_THAT(table.of(0).probabilities, ElementsAre(0.25, 0.75));
  EXPECT_THAT(table.of(2).probabilities, ElementsAre(0, 1, 0));
  table.count(table.find(0, 3), 1);  // counts begin anew
  table.estimate(0);
  EXPECT_THAT(table.of(0).probabilities, ElementsAre(1, 0));
}

TEST(TranslationTable, LeavesLittleToRarePiecesUnderAPrior) {
  TranslationTable table(two_pairs(), 3);
  table.count(table.find(0, 5), 0.5);
  table.count(table.find(0, 3), 1.5);
  table.estimate(0.5);
  // exp(ψ(2) − ψ(3)) = exp(-1/2), exp(ψ(1) − ψ(3)) = exp(-1 - 1/2)
  EXPECT_NEAR(table.of(0).probabilities[0], std::exp(-0.5), 1e-9);
  EXPECT_NEAR(table.of(0).probabilities[1], std::exp(-1.5), 1e-9);
}

}  // namespace
}  // namespace dragoman
