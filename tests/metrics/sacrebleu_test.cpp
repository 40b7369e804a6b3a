#include <fmt/format.h>
#include <gtest/gtest.h>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"
#include "tests/metrics/sacrebleu_files.h"

// Whole corpora, and sacreBLEU's own scores for them: sacrebleu.json, written by make.py.
namespace dragoman {
namespace {

struct Corpus {
  std::string name;
  Lines hypotheses;
  std::vector<Lines> references;
  nlohmann::json figures;
  std::vector<Segments> reference_sets() const { return segments_of(references); }
};

std::vector<Corpus> corpora() {
  const auto document = sacrebleu_figures("sacrebleu.json");
  std::vector<Corpus> all;
  for (const auto& c : document.at("corpora"))
    all.push_back({c.at("name"), c.at("hypotheses"), c.at("references"), c.at("figures")});
  return all;
}

constexpr std::pair<Case, const char*> cases[] = {{Case::mixed, "mixed"}, {Case::lower, "lower"}};
constexpr double tolerance = 1e-9;

}  // namespace

TEST(SacreBleu, HasTheSameBleuForEveryTokenizerWithAndWithoutCapitals) {
  const auto all = corpora();
  ASSERT_GE(all.size(), 10u);
  const std::string spm = source_dir() + "/tests/vocab/golden/unigram.spm";
  for (const auto& corpus : all)
    for (const auto& [letters, name] : cases)
      for (const auto& [tokenizer, tokenizer_name] : enum_names(Tokenizer{})) {
        SCOPED_TRACE(fmt::format("{}, {}, {}", corpus.name, name, tokenizer_name));
        const auto& expected = corpus.figures.at(name).at("bleu").at(std::string(tokenizer_name));
        const LineTokenizer with_model(tokenizer, tokenizer == Tokenizer::spm ? spm : "");
        const Bleu result = bleu(corpus.hypotheses, corpus.reference_sets(), with_model, letters);
        EXPECT_NEAR(result.score, expected.at("score").get<double>(), tolerance);
        EXPECT_NEAR(result.brevity_penalty, expected.at("brevity_penalty").get<double>(), tolerance);
        EXPECT_EQ(result.stats.hypothesis_words, expected.at("hypothesis_words").get<int64_t>());
        EXPECT_EQ(result.stats.reference_words, expected.at("reference_words").get<int64_t>());
        for (int n = 0; n < bleu_order; ++n)
          EXPECT_NEAR(result.precisions[n], expected.at("precisions").at(n).get<double>(), tolerance);
      }
}

TEST(SacreBleu, HasTheSameBleuForEveryLine) {
  for (const auto& corpus : corpora())
    for (const auto& [letters, name] : cases) {
      const auto lines = bleu_of_lines(corpus.hypotheses, corpus.reference_sets(), Tokenizer::thirteen_a, letters);
      for (size_t i = 0; i < lines.size(); ++i)
        EXPECT_NEAR(sentence_bleu(lines[i]), corpus.figures.at(name).at("sentence_bleu").at(i).get<double>(), tolerance)
            << corpus.name << ", " << name << ", line " << i;
    }
}

TEST(SacreBleu, HasTheSameChrfForEveryWordOrderWithAndWithoutCapitals) {
  for (const auto& corpus : corpora())
    for (const auto& [letters, name] : cases)
      for (int word_order = 0; word_order <= chrf_longest_word_order; ++word_order) {
        SCOPED_TRACE(fmt::format("{}, {}, word order {}", corpus.name, name, word_order));
        const double expected = corpus.figures.at(name).at("chrf").at(word_order);
        EXPECT_NEAR(chrf(corpus.hypotheses, corpus.reference_sets(), letters, word_order), expected, tolerance);
      }
}

TEST(SacreBleu, HasTheSameTerWithAndWithoutCapitals) {
  for (const auto& corpus : corpora())
    for (const auto& [letters, name] : cases) {
      SCOPED_TRACE(fmt::format("{}, {}", corpus.name, name));
      const double expected = corpus.figures.at(name).at("ter");
      EXPECT_NEAR(ter(sum_of(ter_of_lines(corpus.hypotheses, corpus.reference_sets(), letters))), expected, tolerance);
    }
}

}  // namespace dragoman
