#include "options/model_options.h"

#include <gmock/gmock.h>

#include <iterator>
#include <sstream>

#include "cli/command.h"
#include "cli/commands.h"
#include "io/config_json.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

ModelConfig config_of(const std::string& options) {
  std::istringstream words("-m m -t s t -v v v " + options);
  TrainOptions parsed;
  parse(train_table(), {std::istream_iterator<std::string>(words), {}}, parsed);
  return parsed;
}

// A file must not depend on the default of the program that reads it.
TEST(ModelOptions, NameTheInitialWeightsThatTheDefaultGave) {
  const auto options = [](const std::string& kind) { return options_of(config_of(kind), toy_vocabulary()); };
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
    const ModelConfig again = config_of("-c " + folder.make("options.yml", options_of(config, toy_vocabulary())));
    EXPECT_EQ(to_json(again), to_json(config)) << kind;
  }
}

}  // namespace
}  // namespace dragoman
