#include "metrics/exact.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {

using Lines = std::vector<std::string>;

TEST(ExactMatch, IsTheShareOfLinesThatAreEqual) {
  const Lines hypotheses = {"int x = 1 ;", "return ;", "a b", "a  b"},
              references = {"int x = 1 ;", "return x ;", "a b ", "a b"};
  const auto lines = exact_of_lines(hypotheses, {references});
  EXPECT_EQ(exact(sum_of(lines)), 50);  // spaces at the end are ignored, those inside are not
}

TEST(ExactMatch, TakesAnyOfTheReferences) {
  const Lines hypotheses = {"b", "c"}, first = {"a", "a"}, second = {"b", "b"};
  EXPECT_EQ(exact(sum_of(exact_of_lines(hypotheses, {first, second}))), 50);
}

TEST(ExactMatch, IgnoresCaseOnRequest) {
  const Lines hypotheses = {"ÄRGER", "x"}, references = {"ärger", "X"};
  EXPECT_EQ(exact(sum_of(exact_of_lines(hypotheses, {references}))), 0);
  EXPECT_EQ(exact(sum_of(exact_of_lines(hypotheses, {references}, Case::lower))), 100);
}

TEST(ExactMatch, OfNoLinesIsZero) { EXPECT_EQ(exact({}), 0); }

TEST(ExactMatch, NeedsAsManyLinesOnBothSides) {
  const Lines two = {"a", "b"}, one = {"a"};
  EXPECT_THROW(exact_of_lines(two, {one}), Error);
}

}  // namespace dragoman
