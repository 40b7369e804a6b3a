#include "score/minimum_risk.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/philox.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Lines = std::vector<std::string>;

class MinimumRisk : public testing::Test {
 protected:
  Lines chosen(const std::string& list, CorpusMetric u = CorpusMetric::chrf, const EvaluateOptions& options = {}) {
    LineReader reader(files.make("list", list));
    Lines all;
    choose_by_minimum_risk(reader, options, u, [&](const std::string& text) { all.push_back(text); });
    return all;
  }

  TemporaryFolder files;
};

double utility(CorpusMetric u, const std::string& text, std::string_view reference, const EvaluateOptions& options) {
  const Case letters = options.lowercase ? Case::lower : Case::mixed;
  if (u == CorpusMetric::bleu)
    return sentence_bleu(bleu_stats(text, {{reference}}, LineTokenizer(options.tokenize), letters));
  return chrf(chrf_stats(text, {{reference}}, letters, u == CorpusMetric::chrf_plus_plus ? 2 : 0));
}

// As in the formula, from the texts.
std::string best_of(const Lines& texts, CorpusMetric u, const EvaluateOptions& options) {
  std::string best;
  double most = -1;
  for (size_t h = 0; h < texts.size(); ++h) {
    double sum = 0;
    for (size_t r = 0; r < texts.size(); ++r)
      if (r != h) sum += utility(u, texts[h], texts[r], options);
    if (sum > most + 1e-7) {
      best = texts[h];
      most = sum;
    }
  }
  return best;
}

// Some are empty, some occur several times, and a word is in capitals now and then.
Lines random_texts(PhiloxSequence& draw) {
  static constexpr const char* words[] = {"Hunde", "hunde,", "laufen", "laufe", "im", "Gras.", "grünen", "中文", "a"};
  Lines texts;
  const uint64_t count = 1 + draw.below(12);
  for (uint64_t t = 0; t < count; ++t) {
    std::string text;
    const uint64_t length = draw.below(7);
    for (uint64_t w = 0; w < length; ++w) text += (w > 0 ? " " : "") + std::string(words[draw.below(9)]);
    texts.push_back(draw.below(4) == 0 && t > 0 ? texts[0] : text);
  }
  return texts;
}

TEST_F(MinimumRisk, IsThatOfTheFormula) {
  for (const CorpusMetric u : {CorpusMetric::chrf, CorpusMetric::chrf_plus_plus, CorpusMetric::bleu})
    for (const bool lowercase : {false, true}) {
      EvaluateOptions options;
      options.lowercase = lowercase;
      options.tokenize = lowercase ? Tokenizer::character : Tokenizer::thirteen_a;
      PhiloxSequence draw(7, uint64_t(u));
      std::string list;
      Lines expected;
      for (int line = 0; line < 200; ++line) {
        const Lines texts = random_texts(draw);
        for (const std::string& text : texts) list += fmt::format("{} ||| {} ||| F0= -1 ||| -1\n", line, text);
        expected.push_back(best_of(texts, u, options));
      }
      EXPECT_EQ(chosen(list, u, options), expected);
    }
}

// It shares a word with each of the others, which share none.
TEST_F(MinimumRisk, IsOfTheTranslationInTheMiddle) {
  EXPECT_THAT(chosen("0 ||| ab xy ||| F= -1\n0 ||| ab cd ||| F= -2\n0 ||| ef cd ||| F= -3\n1 ||| alone ||| F= -1\n"),
              ElementsAre("ab cd", "alone"));
}

TEST_F(MinimumRisk, CountsATranslationAsOftenAsItOccurs) {
  EXPECT_THAT(chosen("0 ||| ab ||| F= -1\n0 ||| cd ||| F= -1\n0 ||| cd ||| F= -1\n"), ElementsAre("cd"));
  EXPECT_THAT(chosen("0 ||| ab ||| F= -1\n0 ||| cd ||| F= -1\n"), ElementsAre("ab")) << "the first of equal ones";
}

TEST_F(MinimumRisk, NeedsAllLinesInOrder) {
  EXPECT_THAT([&] { chosen("0 ||| a ||| F= -1\n2 ||| b ||| F= -1\n"); },
              ThrowsMessage<Error>(
                  HasSubstr("list, line 2: is a translation of line 2 (counted from 0), expected one of line 1")));
  EXPECT_THAT([&] { chosen("0 ||| a ||| F= -1\n1 ||| b ||| F= -1\n0 ||| a ||| F= -1\n"); },
              ThrowsMessage<Error>(HasSubstr("line 3: is a translation of line 0")));
  EXPECT_THAT([&] { chosen("a\n"); }, ThrowsMessage<Error>(HasSubstr("line 1: expected 'number")));
  EXPECT_THAT(chosen(""), testing::IsEmpty());
}

}  // namespace
}  // namespace dragoman
