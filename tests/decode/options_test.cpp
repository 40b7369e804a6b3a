#include "decode/options.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "tests/error_of.h"

namespace dragoman {
namespace {

template <class Options = SearchOptions>
std::string complaint(const Options& options) {
  return error_of([&] { validate(options); });
}

TEST(SearchOptions, MayHaveTheirDefaults) { EXPECT_EQ(complaint({}), ""); }

TEST(SearchOptions, AreWithinBounds) {
  EXPECT_EQ(complaint({.beam_size = 0}), "--beam-size: 0 is out of range, expected from 1 to 1024");
  EXPECT_EQ(complaint({.normalize = -1}), "--normalize: -1 is out of range, expected from 0 to 10");
  EXPECT_EQ(complaint({.length_penalty = -1}), "--length-penalty gnmt: -1 is out of range, expected from 0 to 10");
  EXPECT_EQ(complaint({.word_penalty = 1e4}), "--word-penalty: 10000 is out of range, expected from -1000 to 1000");
  EXPECT_EQ(complaint({.max_length_add = -1}), "--max-length-add: -1 is out of range, expected from 0 to 100000");
  EXPECT_EQ(complaint({.max_length_factor = 1e10}),
            "--max-length-factor: 10000000000 is out of range, expected from 0 to 1000");
  EXPECT_EQ(complaint({.max_length_factor = std::nan("")}),
            "--max-length-factor: nan is out of range, expected from 0 to 1000");
  EXPECT_EQ(complaint({.min_length = -3}), "--min-length: -3 is out of range, expected from 0 to 100000");
  EXPECT_EQ(complaint({.min_length_factor = -3}), "--min-length-factor: -3 is out of range, expected from 0 to 1000");
  EXPECT_EQ(complaint({.no_repeat_ngram = -1}), "--no-repeat-ngram: -1 is out of range, expected from 0 to 1000");
  EXPECT_EQ(complaint({.n_best = -7}), "--n-best: -7 is out of range, expected from 0 to 1024");
}

TEST(SearchOptions, OfSamplingAreWithinBoundsAlsoWithoutIt) {
  for (const Sampling sampling : {Sampling::none, Sampling::full, Sampling::topk, Sampling::nucleus}) {
    EXPECT_EQ(complaint({.sampling = sampling, .temperature = 0}),
              "--temperature: 0 is out of range, expected from 0.001 to 1000");
    EXPECT_EQ(complaint({.sampling = sampling, .sampling_pieces = 0}),
              "--output-sampling topk: 0 is out of range, expected from 1 to 1000000");
    EXPECT_EQ(complaint({.sampling = sampling, .sampling_mass = 2}),
              "--output-sampling nucleus: 2 is out of range, expected from 0 to 1");
  }
}

TEST(SearchOptions, ThatAreGivenHaveAnEffect) {
  const auto complaint_of = [](const SearchOptions& options, Spelling spelled = as_name) {
    try {
      require_effective(
          options, [](std::string_view name) { return name != "min_length"; }, spelled);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint_of({.min_length = 3}), "");
  EXPECT_EQ(complaint_of({.seed = 5}), "seed 5 is for sampling, which is not given");
  EXPECT_EQ(complaint_of({.seed = 5}, as_option), "--seed 5 is for --output-sampling, which is not given");
  EXPECT_EQ(complaint_of({.sampling = Sampling::full, .temperature = 2, .seed = 5}), "");
  EXPECT_EQ(complaint_of({.sampling = Sampling::full, .sampling_pieces = 2}),
            "sampling_pieces 2 is for sampling topk, which is not given");
  EXPECT_EQ(complaint_of({.length_penalty = 0.6}),
            "length_penalty and normalize 1 are two ways to divide scores by length: give one");
  EXPECT_EQ(complaint_of({.normalize = 0, .length_penalty = 0.6}), "");
}

TEST(SearchOptions, OfSamplingDrawAsManyAsAreWanted) {
  EXPECT_EQ(resolved({.beam_size = 5}).beam_size, 5);
  EXPECT_EQ(resolved({.beam_size = 5, .sampling = Sampling::full}).beam_size, 1);
  EXPECT_EQ(resolved({.beam_size = 5, .n_best = 7, .sampling = Sampling::topk}).beam_size, 7);
}

TEST(SearchOptions, DoNotContradictEachOther) {
  EXPECT_EQ(complaint({.beam_size = 2, .n_best = 3}), "--n-best 3 exceeds --beam-size 2");
  EXPECT_EQ(complaint({.max_length_factor = 1, .min_length_factor = 2}),
            "--min-length-factor 2 is more than --max-length-factor 1 allows");
  EXPECT_EQ(complaint({.word_penalty = 1}),
            "--word-penalty 1 has no effect with --normalize 1, where it adds the same number to every score");
  EXPECT_EQ(complaint({.length_penalty = 0.6, .word_penalty = 1}), "") << "scores are not divided by the length itself";
}

TEST(EnsembleOptions, HaveAWeightForEachModel) {
  const auto with = [](std::vector<double> weights) {
    return complaint(EnsembleOptions{.models = {"a", "b"}, .weights = std::move(weights)});
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({0, 1000}), "");
  EXPECT_EQ(with({1e-6, 0}), "");
  EXPECT_EQ(with({1}), "--weights has 1 numbers, --model 2 files, expected one for each");
  EXPECT_EQ(with({std::nan(""), 1}), "--weights: nan is out of range, expected from 0 to 1000");
  EXPECT_EQ(with({-1, 2}), "--weights: -1 is out of range, expected from 0 to 1000");
  EXPECT_EQ(with({1, INFINITY}), "--weights: inf is out of range, expected from 0 to 1000");
  EXPECT_EQ(with({0, 0}), "--weights: 0 is the largest, expected at least one of 1e-06 or more");
  EXPECT_EQ(with({1e-300, 0}), "--weights: 1e-300 is the largest, expected at least one of 1e-06 or more");
}

TEST(EnsembleOptions, WeighNoSingleModel) {
  EXPECT_EQ(complaint(EnsembleOptions{.models = {"a"}, .weights = {1}}), "");
  EXPECT_EQ(complaint(EnsembleOptions{.models = {"a"}, .weights = {0.7}}),
            "--weights 0.7 has no effect on one model, as it weighs the models of an ensemble: leave it out");
}

}  // namespace
}  // namespace dragoman
