#include "data/unknown_tokens.h"

#include "base/log.h"
#include "tests/data/corpus_case.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class UnknownPiecesTest : public CorpusTest {
 protected:
  EncodedSide side(bool given_pieces = true) const {
    return encoded_sides({"train.en", "-"}, {*vocabulary, *vocabulary}, {"en.spm", "de.spm"}, "", given_pieces)[0];
  }

  std::vector<std::string> warnings;
  LogSink sink = [this](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) warnings.emplace_back(message);
  };
  LogScope scope{&sink};
};

TEST_F(UnknownPiecesTest, AreManyAboveAFifth) {
  UnknownTokensWarning(side()).at_end({});
  UnknownTokensWarning(side()).at_end({.tokens = 10, .unknown = 2});
  EXPECT_TRUE(warnings.empty());
  UnknownTokensWarning(side()).at_end({.tokens = 10, .unknown = 3});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("3 of 10 source tokens read from train.en are unknown to en.spm: "
                                              "--no-spm-encode is for text that is split into the pieces")));
}

TEST_F(UnknownPiecesTest, AreToldOnceAndAsSoonAsEnoughTokensShowThem) {
  UnknownTokensWarning warning(side());
  warning.during({.tokens = 999, .unknown = 999});
  warning.during({.tokens = 1000, .unknown = 200});
  EXPECT_TRUE(warnings.empty());
  warning.during({.tokens = 1100, .unknown = 300});
  warning.during({.tokens = 9000, .unknown = 9000});
  warning.at_end({.tokens = 9000, .unknown = 9000});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("300 of 1,100 ")));
}

TEST_F(UnknownPiecesTest, HaveAnAdviceForEachKindOfVocabulary) {
  const Vocabulary list = Vocabulary::from_list(
      {.special = {.unk = 1, .bos = -1, .eos = 0, .pad = -1}, .pieces = {"</s>", "<unk>", "a"}}, "list");
  const auto sides = encoded_sides({"-", "-"}, {*vocabulary, list}, {}, "m.safetensors", false);
  for (const EncodedSide& each : sides) UnknownTokensWarning(each).at_end({.tokens = 1, .unknown = 1});
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("of another language or script"),
                          AllOf(HasSubstr("1 of 1 target tokens read from stdin are unknown to the vocabulary of "
                                          "m.safetensors: "),
                                HasSubstr("prepare this text in the same way (tokens, case, subwords)"))));
}

// The long pair, which is dropped, does not count; nor does </s>.
TEST_F(UnknownPiecesTest, OfACorpusAreThoseOfItsKeptPairs) {
  CorpusFiles text = pair("▁the Q X\n▁the\nQ Q Q Q Q Q Q Q Q\n", "▁the\nQ\nQ\n");
  text.max_length = 8;
  const CorpusReport report = read_corpus(text)->report;
  EXPECT_EQ(report.unknown[0].tokens, 4);
  EXPECT_EQ(report.unknown[0].unknown, 2);
  EXPECT_EQ(report.unknown[1].tokens, 2);
  EXPECT_EQ(report.unknown[1].unknown, 1);
  EXPECT_THAT(report.summary(), HasSubstr("2 source and 1 target tokens unknown"));
}

}  // namespace
}  // namespace dragoman
