#include "metrics/significance.h"

#include <gtest/gtest.h>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"
#include "tests/metrics/sacrebleu_files.h"

namespace dragoman {
namespace {

// sacreBLEU sums counts in float32, hence its means and intervals are good to about seven digits.
constexpr double exact = 1e-9, single = 1e-4;

// All scores of one metric for one corpus.
template <class LinesOf, class Score>
void expect_figures(const std::vector<Lines>& systems, const nlohmann::json& expected, LinesOf lines_of, Score score) {
  const Resampling how{.samples = 1000};
  const auto baseline = lines_of(systems[0]);
  const auto baseline_scores = bootstrap_scores(baseline, score, how);
  for (size_t s = 0; s < systems.size(); ++s) {
    SCOPED_TRACE(s);
    const auto lines = lines_of(systems[s]);
    const auto scores = bootstrap_scores(lines, score, how);
    const Interval interval = interval_of(scores);
    const auto& figures = expected.at(s);
    EXPECT_NEAR(score(sum_of(lines)), figures.at("score").get<double>(), exact);
    EXPECT_NEAR(interval.mean, figures.at("mean").get<double>(), single);
    EXPECT_NEAR(interval.half_width, figures.at("half_width").get<double>(), single);
    if (s == 0) continue;
    const double found = score(sum_of(lines)) - score(sum_of(baseline));
    EXPECT_NEAR(bootstrap_p_value(baseline_scores, scores, found), figures.at("paired_bs").get<double>(), exact);
    EXPECT_NEAR(randomization_p_value(baseline, lines, score, how), figures.at("paired_ar").get<double>(), exact);
  }
}

struct Count {
  int value = 0;
  Count& operator+=(const Count& other) {
    value += other.value;
    return *this;
  }
};
constexpr auto as_score = [](const Count& count) { return double(count.value); };

}  // namespace

TEST(NumpyRandom, DrawsTheNumbersOfNumPy) {
  const auto figures = sacrebleu_figures("significance.json");
  for (const auto& draws : figures.at("draws")) {
    const uint64_t seed = draws.at("seed");
    NumpyRandom lines(seed), coins(seed);
    for (const uint32_t number : draws.at("choice_of_1000")) EXPECT_EQ(lines.below(1000), number);
    for (const uint32_t number : draws.at("choice_of_3_billion")) EXPECT_EQ(lines.below(3'000'000'000), number);
    for (const char number : draws.at("coins").get<std::string>()) EXPECT_EQ(coins.coin(), number == '1');
  }
}

TEST(Significance, IsSacreBleusForEveryMetric) {
  const auto document = sacrebleu_figures("significance.json");
  for (const auto& corpus : document.at("corpora")) {
    SCOPED_TRACE(corpus.at("name").get<std::string>());
    const std::vector<Lines> systems = corpus.at("systems"), references = corpus.at("references");
    const auto sets = segments_of(references);
    const auto& figures = corpus.at("figures");
    expect_figures(
        systems, figures.at("bleu"), [&](Segments s) { return bleu_of_lines(s, sets, Tokenizer::thirteen_a); },
        [](const BleuStats& stats) { return bleu(stats).score; });
    const auto chrf_score = [](const ChrfStats& stats) { return chrf(stats); };
    expect_figures(
        systems, figures.at("chrf"), [&](Segments s) { return chrf_of_lines(s, sets); }, chrf_score);
    expect_figures(
        systems, figures.at("chrf++"), [&](Segments s) { return chrf_of_lines(s, sets, Case::mixed, 2); }, chrf_score);
    expect_figures(
        systems, figures.at("ter"), [&](Segments s) { return ter_of_lines(s, sets); },
        [](const TerStats& stats) { return ter(stats); });
  }
}

// 80 scores: two at either end are left out.
TEST(Interval, HoldsNineteenOfTwentyScores) {
  std::vector<double> scores;
  for (int i = 0; i < 80; ++i) scores.push_back(79 - i);
  EXPECT_EQ(interval_of(scores).mean, 39.5);
  EXPECT_EQ(interval_of(scores).half_width, (77 - 2) / 2.0);
}

TEST(PValue, CountsWhatChanceDoesAtLeastAsOftenAsItself) {
  const std::vector<double> by_chance{1, 2, 3, 4};
  EXPECT_EQ(p_value(by_chance, 2.5), 3.0 / 5);
  EXPECT_EQ(p_value(by_chance, 4), 1.0 / 5);
}

// |system - baseline| is 3, 5, 4; moved to mean 0 these are -1, 1, 0.
TEST(BootstrapPValue, MovesDifferencesToWhereChanceHasThem) {
  const std::vector<double> baseline{1, 1, 1}, system{4, -4, 5};
  EXPECT_EQ(bootstrap_p_value(baseline, system, 0.5), 2.0 / 4);
  EXPECT_EQ(bootstrap_p_value(baseline, system, -1), 1.0 / 4);
}

TEST(Bootstrap, DrawsAsManyLinesAsThereAreAndTheSameForEqualSeeds) {
  const std::vector<Count> lines(50, {2});
  for (const double score : bootstrap_scores(lines, as_score, {.samples = 20})) EXPECT_EQ(score, 100);
  std::vector<Count> numbers;
  for (int i = 0; i < 50; ++i) numbers.push_back({i});
  const auto once = bootstrap_scores(numbers, as_score, {.samples = 20, .seed = 7});
  EXPECT_EQ(once, bootstrap_scores(numbers, as_score, {.samples = 20, .seed = 7}));
  EXPECT_NE(once, bootstrap_scores(numbers, as_score, {.samples = 20, .seed = 8}));
}

}  // namespace dragoman
