#include "model/sentences.h"
#include "tests/special_ids.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

using testing::ElementsAre;

std::vector<int64_t> lengths_of(const Spans& spans) {
  std::vector<int64_t> lengths;
  for (int s = 0; s < spans.sentences(); ++s) lengths.push_back(spans[s].end - spans[s].begin);
  return lengths;
}

SentencesOfLines split(const std::vector<std::vector<int32_t>>& lines) {
  PackedIds packed;
  std::vector<int32_t> lengths;
  for (const auto& line : lines) {
    packed.ids.insert(packed.ids.end(), line.begin(), line.end());
    lengths.push_back(int32_t(line.size()));
  }
  packed.spans = Spans::of_lengths(lengths);
  const std::vector<int> ends{5, 7};
  return sentences_of(packed, ends);
}

TEST(SentencesOfLines, EndAfterTheirMarkAndWithTheLine) {
  const auto s = split({{10, 11, 5, 12, 7, 13, eos_id}});
  EXPECT_THAT(lengths_of(s.rows), ElementsAre(3, 2, 2));
  EXPECT_THAT(lengths_of(s.lines), ElementsAre(3));
}

TEST(SentencesOfLines, EndOnceWhereMarksFollowEachOther) {
  EXPECT_THAT(lengths_of(split({{10, 5, 7, 5, 12, eos_id}}).rows), ElementsAre(4, 2));
}

// Otherwise a line that ends in a full stop would have a last sentence of </s> alone.
TEST(SentencesOfLines, KeepTheEndOfTheLineInTheLastOne) {
  EXPECT_THAT(lengths_of(split({{10, 5, 12, 5, eos_id}}).rows), ElementsAre(2, 3));
  EXPECT_THAT(lengths_of(split({{5, eos_id}}).rows), ElementsAre(2));
}

TEST(SentencesOfLines, NeverCrossALine) {
  const auto s = split({{10, 5, 11, eos_id}, {eos_id}, {5, 10, eos_id}});
  EXPECT_THAT(lengths_of(s.rows), ElementsAre(2, 2, 1, 1, 2));
  EXPECT_THAT(lengths_of(s.lines), ElementsAre(2, 1, 2));
}

}  // namespace
}  // namespace dragoman
