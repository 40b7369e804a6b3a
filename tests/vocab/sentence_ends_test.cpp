#include "vocab/sentence_ends.h"

#include <gmock/gmock.h>

#include "tests/temporary_folder.h"
#include "tests/vocab/travel_text.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct SentenceEnds : testing::Test {
  SentenceEnds() {
    std::string text;
    for (const std::string& line : travel_text()) text += line + "\n";
    const std::string model = folder / "v";
    train_vocabulary({.inputs = {folder.make("text", text)},
                      .model = model,
                      .size = 340,
                      .protected_symbols = {"<end>", "?\")", "3.5"}});
    vocabulary = Vocabulary::load(model);
  }
  std::vector<std::string> of(const std::vector<std::string>& marks) {
    std::vector<std::string> pieces;
    for (const int32_t id : sentence_ends(*vocabulary, marks)) pieces.push_back(vocabulary->piece(id));
    return pieces;
  }

  TemporaryFolder folder;
  std::optional<Vocabulary> vocabulary;
};

TEST_F(SentenceEnds, AreThePiecesThatEndWithAMark) { EXPECT_THAT(of({"."}), UnorderedElementsAre(".")); }

TEST_F(SentenceEnds, LookThroughClosingQuotesAndBrackets) { EXPECT_THAT(of({"?"}), UnorderedElementsAre("?", "?\")")); }

TEST_F(SentenceEnds, MayBeAMarkOfOnesOwn) { EXPECT_THAT(of({"<end>"}), UnorderedElementsAre("<end>")); }

TEST_F(SentenceEnds, AreNeverSpecialOrBytePieces) { EXPECT_THAT(of({"</s>", "<unk>", "<0x2E>"}), IsEmpty()); }

TEST_F(SentenceEnds, HaveMarksThatGiveThemAgain) {
  const auto marks_again = [&](const std::vector<std::string>& marks) {
    return sentence_marks(*vocabulary, sentence_ends(*vocabulary, marks));
  };
  EXPECT_THAT(marks_again({"?", ".", "<end>"}), UnorderedElementsAre("?", ".", "<end>"));
  EXPECT_THAT(marks_again({"?\")", "?"}), UnorderedElementsAre("?")) << "one of the pieces ends with the other's text";
  for (const std::vector<std::string>& marks : {std::vector<std::string>{"?\")"}, {"e"}, {".", "no piece"}})
    EXPECT_EQ(sentence_ends(*vocabulary, marks_again(marks)), sentence_ends(*vocabulary, marks));
}

TEST_F(SentenceEnds, AreInAscendingOrder) {
  const auto ends = sentence_ends(*vocabulary, {".", "?", "e"});
  EXPECT_TRUE(std::ranges::is_sorted(ends));
  EXPECT_THAT(of({".", "?", "e"}), Contains("."));
}

}  // namespace
}  // namespace dragoman
