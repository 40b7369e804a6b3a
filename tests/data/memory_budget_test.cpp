#include "data/memory_budget.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/memory_size.h"
#include "tests/data/corpus_case.h"
#include "tests/error_of.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

class MemoryBudgetTest : public CorpusTest {
 protected:
  // 16 lines.
  CorpusFiles text(double weight, bool sampled = false) const {
    std::string lines;
    for (int i = 0; i < 16; ++i) lines += "a house\n";
    CorpusFiles text = pair(lines, lines);
    if (weight != 1) text.weights = {weight};
    if (sampled) text.given_pieces = false, text.alphas = {0.5, 0.5};
    text.tempdir = files / ".";
    return text;
  }

  // What to do about --ram 64.
  static std::string hint_for(CorpusFiles text) {
    text.ram = 64;
    return thrown_by([&] { read_corpus(text); }).hint();
  }
};

// A pair's lengths take 4.5 bytes. Each of its occurrences takes 4 bytes in the plans of two epochs, and 2 more in each
// if there are several.
TEST_F(MemoryBudgetTest, NamesWhatALineNeeds) {
  EXPECT_THAT(hint_for(text(1)), HasSubstr("13 bytes for each line"));
  EXPECT_THAT(hint_for(text(1, true)), HasSubstr("22 bytes for each line"));
  EXPECT_THAT(hint_for(text(0.5)), HasSubstr("9 bytes for each line"));
  EXPECT_THAT(hint_for(text(10)), HasSubstr("125 bytes for each line"));
}

TEST_F(MemoryBudgetTest, NamesAnAmountThatIsEnough) {
  for (const double weight : {1.0, 100.0}) {
    CorpusFiles files = text(weight);
    const std::string hint = hint_for(files), before = "raise it to ";
    ASSERT_EQ(hint.find(before), 0) << hint;
    const std::string amount = hint.substr(before.size(), hint.find(',') - before.size());
    EXPECT_EQ(amount, weight == 1 ? "1K" : "19K");  // 16 · 12.5 and 16 · 1204.5 bytes
    files.ram = parse_memory_size(amount).bytes;
    EXPECT_EQ(read_corpus(files)->size(), 16);
  }
}

// The budget is for 1,000 lines, though the text has 16: 1,000 · 21.5 bytes.
TEST_F(MemoryBudgetTest, IsForAWholePartOfAStream) {
  CorpusFiles files = text(1);
  files.stream = std::make_shared<TextStream>(TextStream{.part_lines = 1000});
  EXPECT_EQ(hint_for(files), "raise it to about 21K, 22 bytes for each line");
}

}  // namespace
}  // namespace dragoman
