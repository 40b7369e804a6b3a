#include "align/aligner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/threads.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

constexpr int words = 50;

/// Text in which word f is always translated by word (f + 7) mod 50, in the same order or in a random one.
ParallelIds made_text(int pairs, bool scrambled) {
  std::mt19937 random(5);
  ParallelIds text;
  for (int p = 0; p < pairs; ++p) {
    std::vector<int32_t> source(1 + random() % 12), target;
    for (int32_t& word : source) word = int32_t(random() % words);
    for (const int32_t word : source) target.push_back((word + 7) % words);
    if (scrambled)
      for (size_t i = target.size(); i > 1; --i) std::swap(target[i - 1], target[random() % i]);
    text.add(source, target);
  }
  return text;
}

// First iteration: all translations are alike, so shares are those of distance. Where both sides have two pieces they
// are 1 and e^-2 over their sum, 0.880797 and 0.119203, times 0.92.
TEST(Aligner, DoesAnIterationAsByHand) {
  ParallelIds pairs;
  pairs.add(std::vector{0}, std::vector{0});
  pairs.add(std::vector{0, 1}, std::vector{0, 1});
  Aligner aligner(pairs, 2, {.nothing = 0.08, .tension = 4, .alpha = 0});
  EXPECT_NEAR(aligner.iterate(), 2, 1e-6) << "two target pieces, one as probable as the other";
  const TranslationTable& t = aligner.table();
  EXPECT_NEAR(t.probability(t.find(0, 0)), (1 + 0.880797) / 2, 1e-5);
  EXPECT_NEAR(t.probability(t.find(0, 1)), 0.119203 / 2, 1e-5);
  EXPECT_NEAR(t.probability(t.find(1, 0)), 0.119203, 1e-5);
  EXPECT_NEAR(t.probability(t.find(t.nothing(), 0)), 2.0 / 3, 1e-5);
  EXPECT_EQ(aligner.tension(), 4) << "distances say nothing yet";
}

TEST(Aligner, NeverMakesTheTextLessProbable) {  // what expectation maximisation guarantees
  const ParallelIds text = made_text(200, true);
  Aligner aligner(text, words, {.fixed_tension = true, .alpha = 0});
  double before = aligner.iterate();
  for (int i = 0; i < 10; ++i) {
    const double now = aligner.iterate();
    EXPECT_LE(now, before * (1 + 1e-6));
    before = now;
  }
}

TEST(Aligner, FindsWhichWordTranslatesWhich) {
  for (const double alpha : {0.0, 0.01}) {
    const ParallelIds text = made_text(500, true);
    Aligner aligner(text, words, {.alpha = alpha});
    for (int i = 0; i < 8; ++i) aligner.iterate();
    int linked = 0, right = 0, pieces = 0;
    for (int64_t p = 0; p < text.size(); ++p) {
      pieces += int(text.target(p).size());
      for (const auto& [source, target] : aligner.align(text.source(p), text.target(p))) {
        ++linked;
        right += text.target(p)[target] == (text.source(p)[source] + 7) % words;
      }
    }
    EXPECT_GT(right, 0.98 * linked);
    EXPECT_GT(linked, 0.98 * pieces);
  }
}

TEST(Aligner, LearnsHowNearToTheDiagonalLinksAre) {
  const auto learned = [](bool scrambled) {
    const ParallelIds text = made_text(300, scrambled);
    Aligner aligner(text, words, {.tension = 4});
    for (int i = 0; i < 6; ++i) aligner.iterate();
    return aligner.tension();
  };
  EXPECT_GT(learned(false), 8);
  EXPECT_LT(learned(true), 1);
}

TEST(Aligner, ChoosesTheNearerOfTwoWordsThatAreAlike) {
  const ParallelIds text = made_text(300, false);
  Aligner aligner(text, words, {});
  for (int i = 0; i < 5; ++i) aligner.iterate();
  EXPECT_THAT(aligner.align(std::vector{3, 1, 2, 3}, std::vector{10, 8, 9, 10}),
              ElementsAre(TokenLink{0, 0}, TokenLink{1, 1}, TokenLink{2, 2}, TokenLink{3, 3}));
}

TEST(Aligner, LeavesWhatItHasNeverSeenTogetherWithoutALink) {
  const ParallelIds text = made_text(300, false);
  Aligner aligner(text, words + 1, {});
  for (int i = 0; i < 5; ++i) aligner.iterate();
  EXPECT_THAT(aligner.align(std::vector{words, 1}, std::vector{10, 8}), ElementsAre(TokenLink{1, 1}));
  EXPECT_THAT(aligner.align({}, std::vector{1}), ElementsAre());
  EXPECT_THAT(aligner.align(std::vector{1}, {}), ElementsAre());
}

TEST(Aligner, LearnsNothingFromAnEmptySide) {
  ParallelIds text = made_text(50, false), more = text;
  more.add({}, std::vector{1, 2});
  more.add(std::vector{3}, {});
  more.add({}, {});
  Aligner a(text, words, {}), b(more, words, {});
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.iterate(), b.iterate(), 1e-6);
  EXPECT_EQ(a.tension(), b.tension());
}

TEST(Aligner, LearnsTheSameToTheBitOnAnyNumberOfThreads) {
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 3}) {
    const Threads count(threads);
    const ParallelIds text = made_text(300, true);
    Aligner aligner(text, words, {});
    found.emplace_back();
    for (int i = 0; i < 4; ++i) found.back().push_back(aligner.iterate());
    found.back().push_back(aligner.tension());
    for (int32_t w = 0; w <= words; ++w) {
      const auto probabilities = aligner.table().of(w).probabilities;
      found.back().insert(found.back().end(), probabilities.begin(), probabilities.end());
    }
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace dragoman
