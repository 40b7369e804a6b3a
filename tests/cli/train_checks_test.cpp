#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "options/train_table.h"
#include "tests/cli/parse_train.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

// What train says beside errors.
std::string warnings_of(const Strings& arguments, const Strings& vocabs = {"v", "v"}) {
  std::string said;
  const LogSink sink = [&](LogLevel, std::string_view message) { said += fmt::format("{}\n", message); };
  const LogScope scope(&sink);
  train(arguments, vocabs);
  return said;
}

TEST(TrainFlags, LeaveTheStartOfTheDecoderToTheVocabulary) {
  EXPECT_TRUE(train({}).decoder_start_by_vocabulary);
  EXPECT_FALSE(train({"--decoder-start", "bos"}).decoder_start_by_vocabulary) << "also if it is the default";
  const TemporaryFolder folder;
  EXPECT_TRUE(train({"-c", folder.make("full.yml", "decoder-start: bos\n")}).decoder_start_by_vocabulary)
      << "as --dump-config full writes it";
  EXPECT_FALSE(train({"-c", folder.make("eos.yml", "decoder-start: eos\n")}).decoder_start_by_vocabulary);
}

TEST(TrainFlags, SayWhatLimitsABatchOnACpu) {
  const auto limits = [](const Strings& arguments) {
    const std::string said = warnings_of(arguments);
    return said.substr(std::min(said.size(), said.find("they have ")));
  };
  EXPECT_EQ(limits({"--mini-batch-fit"}), "they have --mini-batch-words 4096\n");
  EXPECT_EQ(limits({"--mini-batch-fit", "--mini-batch-words", "0", "--mini-batch", "64"}),
            "they have --mini-batch 64\n");
  EXPECT_EQ(limits({"--mini-batch-fit", "--mini-batch", "64"}),
            "they have --mini-batch-words 4096 and --mini-batch 64\n");
}

TEST(TrainFlags, CheckTheStartOfWarmUp) {
  EXPECT_EQ(train({"--lr-warmup-start-rate", "1e-7"}).warmup_start, 1e-7);
  EXPECT_THAT(error_of([] { train({"--lr-warmup-start-rate", "0.1"}); }), HasSubstr("exceeds --learn-rate 0.0007"));
  EXPECT_THAT(error_of([] {
                train({"--lr-warmup-start-rate", "1e-7", "--lr-schedule", "noam"});
              }),
              HasSubstr("contradicts --lr-schedule noam"));
  EXPECT_THAT(warnings_of({"--lr-warmup-start-rate", "1e-7", "--lr-warmup", "0"}),
              HasSubstr("--lr-warmup-start-rate has no effect with --lr-warmup 0"));
}

TEST(TrainFlags, OfEarlyStoppingHaveNoEffectWithoutScheduledValidations) {
  const Strings validation = {"--valid-sets", "s", "t", "--valid-metrics", "bleu", "--valid-tokenize", "zh"};
  Strings stopping = {"--early-stopping", "3", "--early-stopping-on", "any", "--early-stopping-epsilon", "1"};
  stopping.insert(stopping.end(), validation.begin(), validation.end());
  EXPECT_EQ(warnings_of(stopping), "");
  Strings never = stopping;
  never.insert(never.end(), {"--valid-freq", "0"});
  EXPECT_EQ(warnings_of(never),
            "--early-stopping has no effect with --valid-freq 0\n"
            "--early-stopping-on has no effect with --valid-freq 0\n"
            "--early-stopping-epsilon has no effect with --valid-freq 0\n")
      << "SIGUSR2 has the others";
  EXPECT_EQ(warnings_of({"--valid-sets", "s", "t", "--valid-freq", "0", "--early-stopping", "0"}), "");
}

TEST(TrainFlags, OfTheSearchHaveNoEffectWithoutAMetricThatTranslates) {
  const auto said = [](const Strings& metrics, const Strings& more) {
    Strings words = {"--valid-sets", "s", "t", "--valid-metrics"};
    words.insert(words.end(), metrics.begin(), metrics.end());
    words.insert(words.end(), more.begin(), more.end());
    return warnings_of(words);
  };
  const Strings search = {"--beam-size", "3", "--normalize", "0", "--valid-max-lines", "10"};
  const std::string why = " has no effect: none of --valid-metrics translates (bleu, chrf and translation do)\n";
  EXPECT_EQ(said({"cross-entropy", "perplexity"}, search),
            "--beam-size" + why + "--normalize" + why + "--valid-max-lines" + why);
  EXPECT_EQ(said({"cross-entropy", "chrf"}, search), "");
  EXPECT_EQ(said({"cross-entropy"}, {}), "");
  EXPECT_EQ(said({"cross-entropy"}, {"--beam-size", "4"}), "") << "the default, as a full configuration has it";
}

TEST(TrainFlags, OfWindowsHaveNoEffectWithoutShuffling) {
  EXPECT_EQ(warnings_of({"--no-shuffle", "--maxi-batch", "5"}),
            "--maxi-batch has no effect with --no-shuffle, which keeps the order of the text\n");
  EXPECT_EQ(warnings_of({"--no-shuffle"}), "");
  EXPECT_EQ(warnings_of({"--maxi-batch", "5"}), "");
}

TEST(TrainFlags, OfNewVocabulariesHaveNoEffectOnExistingOnes) {
  const TemporaryFolder folder;
  const Strings options = {"--vocab-type",
                           "unigram",
                           "--vocab-normalization",
                           "identity",
                           "--sentencepiece-max-lines",
                           "1000",
                           "--sentencepiece-options",
                           "--split_digits"};
  EXPECT_EQ(warnings_of(options), "") << "there is no v";
  const std::string v = folder.make("v", ""), w = folder / "w";
  EXPECT_EQ(warnings_of(options, {v, w}), "") << "one is to be made";
  EXPECT_EQ(warnings_of(options, {v, v}), fmt::format("--vocab-type has no effect: {0} exists\n"
                                                      "--vocab-normalization has no effect: {0} exists\n"
                                                      "--sentencepiece-max-lines has no effect: {0} exists\n"
                                                      "--sentencepiece-options has no effect: {0} exists\n",
                                                      v));
}

}  // namespace
}  // namespace dragoman
