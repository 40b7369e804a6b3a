#include "decode/ensemble.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "backend/registry.h"
#include "base/error.h"
#include "tests/decode/toy_decoding.h"
#include "tests/special_ids.h"

namespace dragoman {
namespace {

using Pieces = ToyDecoding::Pieces;

constexpr int model_a = 1000, model_b = 2000;  // two models

class Ensembles : public testing::Test {
 protected:
  Ensemble of(const std::vector<std::pair<int, double>>& models, EnsembleMean mean = EnsembleMean::automatic,
              SearchRule rule = SearchRule::marian) {
    std::vector<Ensemble::Member> members;
    for (const auto& [model, weight] : models) members.push_back({std::make_unique<ToyDecoding>(model), weight});
    Conventions conventions = conventions_of();
    conventions.rule = rule;
    return {cx, std::move(members), std::move(conventions), mean};
  }
  std::vector<std::vector<Hypothesis>> find(Ensemble models) {
    return found_by(std::move(models), {.beam_size = 3, .n_best = 3}, sentences());
  }
  static std::vector<Sentence> sentences() {
    std::vector<Sentence> sentences;
    for (int i = 0; i < 30; ++i) sentences.push_back({Pieces(size_t(i % 7), 3 + i)});
    return sentences;
  }
  // log p of a translation under one model.
  static double log_prob_of(Pieces source, const Hypothesis& h, int model) {
    source.push_back(eos_id);
    Pieces prefix;
    double sum = 0;
    for (const int32_t id : h.ids) {
      sum += log_prob(ToyDecoding::logits(source, prefix, model), id);
      prefix.push_back(id);
    }
    if (h.length > int(h.ids.size())) sum += log_prob(ToyDecoding::logits(source, prefix, model), eos_id);
    return sum;
  }

  Arena arena;
  Context cx{.backend = backend("cpu"), .arena = arena};
};

TEST_F(Ensembles, ScoreByTheWeightedSumOfLogProbabilities) {
  for (const auto& [weight_a, weight_b] : {std::pair(0.5, 0.5), {1.0, 0.25}, {2.0, 1.0}}) {
    const auto found = find(of({{model_a, weight_a}, {model_b, weight_b}}));
    for (size_t i = 0; i < found.size(); ++i)
      for (const Hypothesis& h : found[i]) {
        const Pieces source = sentences()[i].source;
        const double by_a = log_prob_of(source, h, model_a), by_b = log_prob_of(source, h, model_b);
        ASSERT_EQ(h.by_model.size(), 2u);
        EXPECT_NEAR(h.by_model[0], by_a, 1e-4);
        EXPECT_NEAR(h.by_model[1], by_b, 1e-4);
        EXPECT_NEAR(h.log_prob, weight_a * by_a + weight_b * by_b, 1e-4);
      }
  }
}

// Weights are normalised: the sum of probabilities is one.
TEST_F(Ensembles, ScoreByTheMeanOfProbabilitiesIfAsked) {
  for (const auto& [weight_a, weight_b] : {std::pair(0.5, 0.5), {1.0, 1.0}, {3.0, 1.0}, {0.0, 2.0}}) {
    const auto found = find(of({{model_a, weight_a}, {model_b, weight_b}}, EnsembleMean::arithmetic));
    const double part = weight_a / (weight_a + weight_b);
    for (size_t i = 0; i < found.size(); ++i)
      for (const Hypothesis& h : found[i]) {
        Pieces source = sentences()[i].source, ids = h.ids, prefix;
        source.push_back(eos_id);
        if (h.length > int(ids.size())) ids.push_back(eos_id);
        double sum = 0;
        for (const int32_t id : ids) {
          const double by_a = log_prob(ToyDecoding::logits(source, prefix, model_a), id);
          const double by_b = log_prob(ToyDecoding::logits(source, prefix, model_b), id);
          sum += std::log(part * std::exp(by_a) + (1 - part) * std::exp(by_b));
          prefix.push_back(id);
        }
        EXPECT_NEAR(h.log_prob, sum, 1e-4);
        EXPECT_NEAR(h.by_model[0], log_prob_of(sentences()[i].source, h, model_a), 1e-4);
      }
  }
}

TEST_F(Ensembles, KeepTheMeanOfTheirProgram) {
  const std::vector<std::pair<int, double>> both = {{model_a, 0.5}, {model_b, 0.5}};
  const auto found = [&](EnsembleMean mean, SearchRule rule) { return find(of(both, mean, rule)); };
  for (const SearchRule rule : {SearchRule::marian, SearchRule::huggingface, SearchRule::ctranslate2})
    EXPECT_EQ(found(EnsembleMean::automatic, rule), found(EnsembleMean::geometric, rule));
  EXPECT_EQ(found(EnsembleMean::automatic, SearchRule::fairseq), found(EnsembleMean::arithmetic, SearchRule::fairseq));
  EXPECT_NE(found(EnsembleMean::geometric, SearchRule::fairseq), found(EnsembleMean::arithmetic, SearchRule::fairseq));
}

TEST_F(Ensembles, OfOneModelWithItselfFindWhatItFinds) {
  const auto alone = find(of({{model_a, 1}})), twice = find(of({{model_a, 0.5}, {model_a, 0.5}}));
  for (size_t i = 0; i < alone.size(); ++i)
    for (size_t rank = 0; rank < alone[i].size(); ++rank) {
      EXPECT_EQ(twice[i][rank].ids, alone[i][rank].ids);
      EXPECT_NEAR(twice[i][rank].log_prob, alone[i][rank].log_prob, 1e-5);
    }
}

TEST_F(Ensembles, GiveAModelOfWeightZeroNoSay) {
  const auto alone = find(of({{model_b, 1}})), both = find(of({{model_a, 0}, {model_b, 1}}));
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(both[i][0].ids, alone[i][0].ids);
}

// The best translation of two models together is the best of neither: with a wide beam it beats both.
TEST_F(Ensembles, FindWhatIsBestForBothTogether) {
  const auto best_of = [&](Ensemble models) {
    return found_by(std::move(models), {.beam_size = 100, .normalize = 0, .max_length_add = 2}, sentences());
  };
  const auto together = best_of(of({{model_a, 0.5}, {model_b, 0.5}})), by_a = best_of(of({{model_a, 1}})),
             by_b = best_of(of({{model_b, 1}}));
  for (size_t i = 0; i < together.size(); ++i)
    for (const auto& other : {by_a[i][0], by_b[i][0]}) {
      const Pieces source = sentences()[i].source;
      EXPECT_GE(together[i][0].log_prob + 1e-4,
                (log_prob_of(source, other, model_a) + log_prob_of(source, other, model_b)) / 2);
    }
}

// A model whose weights are damaged.
class BrokenDecoding : public ToyDecoding {
  Tensor step(std::span<const StepRow> rows) override {
    const Tensor logits = ToyDecoding::step(rows);
    logits.as<float>()[logits.elements() - 3] = std::numeric_limits<float>::quiet_NaN();  // in the last row
    return logits;
  }
};

TEST_F(Ensembles, RefuseOutputThatIsNotANumber) {
  for (const bool several : {false, true}) {
    std::vector<Ensemble::Member> members;
    if (several) members.push_back({std::make_unique<ToyDecoding>()});
    members.push_back({std::make_unique<BrokenDecoding>()});
    EXPECT_THROW(find({cx, std::move(members)}), Error);
  }
}

TEST_F(Ensembles, RefuseItAlsoWithoutLogProbabilities) {
  std::vector<Ensemble::Member> broken;
  broken.push_back({std::make_unique<BrokenDecoding>()});
  EXPECT_THROW(found_by({cx, std::move(broken)}, {.beam_size = 1}, sentences(), 1 << 20, nullptr, Wanted::pieces),
               Error);
}

TEST_F(Ensembles, FindTheSamePiecesWithoutLogProbabilities) {
  for (const auto& models : {std::vector{std::pair{model_a, 1.0}}, {{model_a, 0.5}, {model_b, 0.5}}})
    for (const int beam_size : {1, 3}) {
      const SearchOptions options{.beam_size = beam_size};
      const auto all = found_by(of(models), options, sentences());
      const auto pieces = found_by(of(models), options, sentences(), 1 << 20, nullptr, Wanted::pieces);
      for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(pieces[i][0].ids, all[i][0].ids);
    }
}

// Logits in memory from which the host has to fetch them.
class FarDecoding : public ToyDecoding {
 public:
  static inline int64_t fetched = 0;  // bytes

 private:
  Tensor step(std::span<const StepRow> rows) override {
    static const DeviceMemory far = {.download = [](void* host, const void* device, int64_t bytes) {
      fetched += bytes;
      std::memcpy(host, device, size_t(bytes));
    }};
    const Tensor near = ToyDecoding::step(rows);
    return Tensor(nullptr, near.data(), near.shape(), near.dtype(), &far);
  }
};

TEST_F(Ensembles, FetchAllScoresOnlyIfTheSearchNeedsThem) {
  const auto fetched_for = [&](const SearchOptions& options, std::vector<Sentence> some) {
    FarDecoding::fetched = 0;
    std::vector<Ensemble::Member> far;
    far.push_back({std::make_unique<FarDecoding>()});
    const auto here = found_by(of({{ToyDecoding::first_model, 1}}), options, some);
    EXPECT_EQ(found_by({cx, std::move(far)}, options, some), here);
    return FarDecoding::fetched;
  };
  std::vector<Sentence> forced = sentences();
  for (Sentence& s : forced) s.prefix = {4, 3};
  EXPECT_EQ(fetched_for({.beam_size = 3}, sentences()), 0);
  EXPECT_EQ(fetched_for({.beam_size = 3, .sampling = Sampling::topk, .sampling_pieces = 3}, sentences()), 0);
  EXPECT_GT(fetched_for({.beam_size = 3, .sampling = Sampling::full}, sentences()), 0);
  EXPECT_GT(fetched_for({.beam_size = 3}, forced), 0);
}

}  // namespace
}  // namespace dragoman
