#include "data/pairs.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(LinePairs, AreTheLinesOfBothFilesInOrder) {
  TemporaryFolder files;
  const LinePairs pairs = read_line_pairs({{files.make("a", "one\n\nthree"), files.make("b", "eins\nzwei\ndrei\n")}});
  EXPECT_THAT(pairs.source, ElementsAre("one", "", "three"));
  EXPECT_THAT(pairs.target, ElementsAre("eins", "zwei", "drei"));
}

TEST(LinePairs, CanBeOnlyTheFirstOnes) {
  TemporaryFolder files;
  const LinePairs pairs = read_line_pairs({{files.make("a", "1\n2\n3\n4\n"), files.make("b", "1\n2\n3\n")}}, 2);
  EXPECT_THAT(pairs.source, ElementsAre("1", "2"));
  EXPECT_THAT(pairs.target, ElementsAre("1", "2"));
}

TEST(LinePairs, OfFilesWithDifferentNumbersOfLinesNameBothAndTheirCounts) {
  TemporaryFolder files;
  const std::string a = files.make("a", "1\n2\n3\n"), b = files.make("b", "1\n2\n");
  EXPECT_THAT([&] { read_line_pairs({{a, b}}); }, ThrowsMessage<Error>(HasSubstr(a + " has 3 lines, " + b + " has 2")));
}

TEST(Pairing, HoldsForEquallyManyLinesOfAnyLength) {
  const std::vector<int32_t> a = {1, 2, 3}, b = {9, 0, 500};
  EXPECT_NO_THROW(require_paired({"a", "b"}, {a, b}));
}

TEST(Pairing, FindsTheLineWithoutAPartner) {
  const std::vector<int32_t> whole = {5, 40, 7, 22, 9, 60, 3, 31}, cut = {5, 40, 7, 9, 60, 3, 31};
  EXPECT_THAT(
      [&] {
        require_paired({"a", "b"}, {whole, cut});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("a has 8 lines, b has 7"), HasSubstr("line 4 of a is the first"))));
  EXPECT_THAT(
      [&] {
        require_paired({"a", "b"}, {cut, whole});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("a has 7 lines, b has 8"), HasSubstr("line 4 of b is the first"))));
}

TEST(Pairing, FindsLinesMissingAtTheBeginningAndAtTheEnd) {
  const std::vector<int32_t> whole = {5, 40, 7, 22, 9}, head = {5, 40, 7}, tail = {7, 22, 9}, nothing;
  EXPECT_THAT([&] { require_paired({"a", "b"}, {whole, head}); }, ThrowsMessage<Error>(HasSubstr("line 4 of a is")));
  EXPECT_THAT([&] { require_paired({"a", "b"}, {whole, tail}); }, ThrowsMessage<Error>(HasSubstr("line 1 of a is")));
  EXPECT_THAT([&] { require_paired({"a", "b"}, {whole, nothing}); }, ThrowsMessage<Error>(HasSubstr("line 1 of a is")));
}

}  // namespace
}  // namespace dragoman
