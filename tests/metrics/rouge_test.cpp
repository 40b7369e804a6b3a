#include "metrics/rouge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "metrics/porter.h"
#include "tests/metrics/sacrebleu_files.h"

// Scores and stems of the rouge-score package are in rouge.json, written by make_rouge.py.
namespace dragoman {
namespace {

constexpr std::pair<Rouge, const char*> kinds[] = {
    {Rouge::rouge_1, "rouge1"}, {Rouge::rouge_2, "rouge2"}, {Rouge::rouge_l, "rougeL"}};
constexpr std::pair<Stemmer, const char*> stemmers[] = {{Stemmer::none, "no"}, {Stemmer::porter, "porter"}};

double rouge_of(std::string_view hypothesis, std::string_view reference, Rouge kind, Stemmer stemmer = Stemmer::none) {
  const std::array references = {reference};
  return rouge(rouge_stats(hypothesis, references, kind, stemmer));
}

}  // namespace

TEST(Rouge, HasTheFiguresOfTheRougeScorePackageWithAndWithoutStems) {
  const auto corpora = sacrebleu_figures("sacrebleu.json").at("corpora"),
             rows = sacrebleu_figures("rouge.json").at("corpora");
  ASSERT_GT(rows.size(), corpora.size());
  for (size_t c = 0; c < rows.size(); ++c) {
    const auto& corpus = c < corpora.size() ? corpora[c] : rows[c];
    ASSERT_EQ(corpus.at("name"), rows[c].at("name"));
    const Lines hypotheses = corpus.at("hypotheses");
    const std::vector<Lines> references = corpus.at("references");
    for (const auto& [stemmer, stemmer_name] : stemmers)
      for (const auto& [kind, kind_name] : kinds) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", corpus.at("name").get<std::string>(), stemmer_name, kind_name));
        const double expected = 100 * rows[c].at("figures").at(stemmer_name).at(kind_name).get<double>();
        const auto lines = rouge_of_lines(hypotheses, segments_of(references), kind, stemmer);
        EXPECT_NEAR(rouge(sum_of(lines)), expected, 1e-9);
      }
  }
}

// Lin 2004, section 3.1: ROUGE-L of S2 and S3 against S1, "police killed the gunman", is 3/4 and 2/4.
TEST(Rouge, FollowsTheExampleOfThePaper) {
  const std::string_view s1 = "police killed the gunman", s2 = "police kill the gunman", s3 = "the gunman kill police";
  EXPECT_DOUBLE_EQ(rouge_of(s2, s1, Rouge::rouge_l), 75);
  EXPECT_DOUBLE_EQ(rouge_of(s3, s1, Rouge::rouge_l), 50);
  EXPECT_DOUBLE_EQ(rouge_of(s2, s1, Rouge::rouge_1), 75);
  EXPECT_DOUBLE_EQ(rouge_of(s3, s1, Rouge::rouge_1), 75);
  EXPECT_NEAR(rouge_of(s2, s1, Rouge::rouge_2), 100.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(rouge_of(s2, s1, Rouge::rouge_1, Stemmer::porter), 100);
}

TEST(Rouge, OfTextWithoutWordsIsZero) {
  for (const auto& [kind, name] : kinds) {
    EXPECT_EQ(rouge_of("", "a cat", kind), 0);
    EXPECT_EQ(rouge_of("...", "...", kind), 0);
  }
}

TEST(PorterStem, HasTheStemsOfNltk) {
  const auto stems = sacrebleu_figures("rouge.json").at("stems");
  ASSERT_GT(stems.size(), 500u);
  for (const auto& pair : stems) EXPECT_EQ(porter_stem(pair.at(0)), pair.at(1).get<std::string>()) << pair.at(0);
}

}  // namespace dragoman
