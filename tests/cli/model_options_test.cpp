#include "options/model_options.h"

#include <gmock/gmock.h>

#include <iterator>
#include <sstream>

#include "cli/command.h"
#include "cli/commands.h"
#include "io/config_json.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {
namespace {

Vocabularies toy_vocabularies() { return {toy_vocabulary(), toy_vocabulary()}; }

ModelConfig config_of(const std::string& options) {
  std::istringstream words("-m m -t s t -v v v " + options);
  TrainOptions parsed;
  parse(train_table(), {std::istream_iterator<std::string>(words), {}}, parsed);
  return parsed;
}

// A file must not depend on the default of the program that reads it.
TEST(ModelOptions, NameTheInitialWeightsThatTheDefaultGave) {
  const auto options = [](const std::string& kind) { return options_of(config_of(kind), toy_vocabularies()); };
  EXPECT_THAT(options(""), testing::HasSubstr("transformer-depth-scaling: true"));
  EXPECT_THAT(options("--task transformer-base-prenorm"), testing::HasSubstr("transformer-depth-scaling: false"));
  EXPECT_THAT(options("--type s2s"), testing::HasSubstr("transformer-depth-scaling: false"));
}

TEST(ModelOptions, MakeTheSameModelAgain) {
  const TemporaryFolder folder;
  for (const char* kind : {
           "",
           "--task transformer-big-prenorm --transformer-dropout 0.2 --transformer-dropout-attention 0.1",
           "--task transformer-tiny11",
           "--transformer-depth-scaling false",
           "--task transformer-base-prenorm --transformer-depth-scaling",
           "--transformer-train-position-embeddings --transformer-max-positions 2000 --tied-embeddings",
           "--transformer-positions relative --transformer-relative-positions 8 --attention-norm rms",
           "--transformer-positions relative-bias --transformer-relative-buckets 8 --transformer-ffn-gated",
           "--transformer-decoder-autoreg average-attention --transformer-aan-nogate --transformer-dim-aan 100",
           "--moe-experts 4 --moe-frequency 1 --moe-load-loss 0.1 --transformer-dim-key 32 --transformer-dim-value 16",
           "--attention-score reduced-rank --attention-projections none --attention-rank 4 --attention-window 5",
           "--type decoder-only --learn-source",
           "--type decoder-only --attention-memory local-compressed --attention-block 64",
           "--type s2s",
           "--type s2s --dec-cell lstm --enc-cell lstm --rnn-attention luong --layer-normalization --dropout-rnn 0.3",
           "--type s2s --rnn-attention none --enc-type unidirectional --reverse-source --enc-depth 2",
           "--type s2s --enc-type conv --enc-conv-width 5",
           "--type s2s --attention-choice hard --attention-reward 0.2",
           "--dec-depth 4 --transformer-tied-layers 1 1 3 1 --dropout-src 0.1 --dropout-trg 0.2",
           "--copy --transformer-norm batch --transformer-ffn-activation swish",
       }) {
    const ModelConfig config = config_of(kind);
    const ModelConfig again = config_of("-c " + folder.make("options.yml", options_of(config, toy_vocabularies())));
    EXPECT_EQ(to_json(again), to_json(config)) << kind;
  }
}

TrainOptions options_for(const Vocabularies& vocabularies) {
  const TemporaryFolder folder;
  const bool joint = vocabularies.source.is_same_as(vocabularies.target);
  ModelConfig config = config_of("");
  config.embeddings.tied_all = joint;
  const std::string file = folder.make("options.yml", options_of(config, vocabularies));
  TrainOptions parsed;
  parse(train_table(), {"-c", file, "-m", "m", "-t", "s", "t", "-v", "v", joint ? "v" : "w"}, parsed);
  return parsed;
}

TEST(ModelOptions, LearnVocabulariesOfTheSameSizeAndType) {
  const Vocabulary bpe = toy_vocabulary("bpe"), unigram = toy_vocabulary("unigram");
  EXPECT_THAT(options_for({unigram, unigram}).dim_vocabs, testing::ElementsAre(unigram.size()));
  EXPECT_EQ(options_for({unigram, unigram}).vocabulary_type, VocabularyType::unigram);
  EXPECT_THAT(options_for({bpe, unigram}).dim_vocabs, testing::ElementsAre(bpe.size(), unigram.size()));
  EXPECT_THAT(options_of(config_of(""), {bpe, unigram}), testing::Not(testing::HasSubstr("vocab-type")))
      << "one option cannot name two types";
}

TEST(ModelOptions, HaveOnlyTheSizeOfListsOfTokensAndNothingOfOtherLists) {
  const TemporaryFolder folder;
  std::string pieces = "</s>: 0\n<unk>: 1\n";
  for (int id = 2; id < 20; ++id) pieces += fmt::format("t{}: {}\n", id, id);
  const Vocabulary list = Vocabulary::load(folder.make("v.yml", pieces));
  const Vocabulary learned_elsewhere = Vocabulary::from_list({.segmentation = SegmentationKind::bpe,
                                                              .special = {.unk = 0, .eos = 1},
                                                              .pieces = {"<unk>", "</s>", "a"},
                                                              .model = "#version: 0.2\na b\n"},
                                                             "m");
  const Vocabulary short_list = Vocabulary::load(folder.make("few.yml", "</s>: 0\n<unk>: 1\na: 2\n"));
  EXPECT_THAT(options_for({list, list}).dim_vocabs, testing::ElementsAre(20));
  EXPECT_THAT(options_for({short_list, short_list}).dim_vocabs, testing::IsEmpty()) << "--dim-vocabs takes no 3";
  EXPECT_THAT(options_of(config_of(""), {list, list}), testing::Not(testing::HasSubstr("vocab-")));
  EXPECT_THAT(options_of(config_of(""), {learned_elsewhere, learned_elsewhere}),
              testing::Not(testing::HasSubstr("vocab")));
}

}  // namespace
}  // namespace dragoman
