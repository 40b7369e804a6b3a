#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/align_options.h"
#include "cli/average_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/evaluate_options.h"
#include "cli/explain_options.h"
#include "cli/inspect_options.h"
#include "cli/quantize_options.h"
#include "cli/score_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "options/train_table.h"
#include "tensor/arena.h"
#include "tests/cli/parse_train.h"
#include "tests/error_of.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The hint of a command that runs out of memory.
template <class Options>
std::string hint_for(const Table<Options>& table) {
  Options options;
  try {
    run_on({}, {}, bind_flags(table.flags, options), [](Engine&) -> int { throw OutOfMemory("out of memory"); });
  } catch (const OutOfMemory& error) {
    return error.hint();
  }
  return "no lack of memory";
}

TranslateCommandOptions translate(Strings arguments) {
  arguments.insert(arguments.end(), {"-m", "m"});
  TranslateCommandOptions options;
  parse(translate_table(), arguments, options);
  return options;
}

TEST(OutOfMemory, HasAHintThatNamesAnOptionOfTheCommand) {
  EXPECT_THAT(hint_for(train_table()), HasSubstr("--mini-batch-words"));
  EXPECT_THAT(hint_for(translate_table()), HasSubstr("--mini-batch-words"));
  EXPECT_EQ(hint_for(align_table()), "");
}

TEST(OptionsOfOtherCommands, SayWhichTheyAre) {
  const Error error = thrown_by([] { train({"--glossary", "terms"}); });
  EXPECT_STREQ(error.what(), "there is no option --glossary");
  EXPECT_EQ(error.hint(), "an option of dragoman translate, serve");
  EXPECT_EQ(commands_with("model"), "an option of dragoman translate, serve, train and others");
  EXPECT_EQ(commands_with("elephant"), "");
  EXPECT_EQ(commands_with("config"), "") << "which all have";
}

TEST(SacrebleusTokenizers, SayHowToHaveTheirScores) {
  const auto hint = [](const std::string& tokenizer) {
    const Error error = thrown_by([&] {
      EvaluateCommandOptions options;
      parse(evaluate_table(), {"-r", "r", "-i", "i", "--tokenize", tokenizer}, options);
    });
    EXPECT_EQ(error.what(), "--tokenize '" + tokenizer + "' is not supported");
    return error.hint();
  };
  EXPECT_THAT(hint("flores200"), HasSubstr("--tokenize spm --tokenize-model"));
  EXPECT_THAT(hint("ja-mecab"), HasSubstr("char takes"));
  const Error error = thrown_by([] { train({"--valid-tokenize", "flores101"}); });
  EXPECT_THAT(error.hint(), HasSubstr("dragoman evaluate --tokenize spm"));
}

TEST(TrainFlags, HaveTheBaseModelOfThePaperAsTheDefault) {
  const TrainOptions o = train({});
  EXPECT_EQ(o.dim, 512);
  EXPECT_EQ(o.encoder_layers, 6);
  EXPECT_EQ(o.decoder_layers, 6);
  EXPECT_EQ(o.heads, 8);
  EXPECT_EQ(o.head_keys(), 64);
  EXPECT_EQ(o.feed_forward, 2048);
  EXPECT_EQ(o.dropout.sublayer, 0.1);
  EXPECT_EQ(o.label_smoothing, 0.1);
  EXPECT_EQ(o.norm, NormPlacement::post);
}

TEST(TrainFlags, ATaskIsASetOfDefaultsThatOptionsOverride) {
  const TrainOptions big = train({"--task", "transformer-big-prenorm", "--transformer-heads", "8"});
  EXPECT_EQ(big.dim, 1024);
  EXPECT_EQ(big.feed_forward, 4096);
  EXPECT_EQ(big.heads, 8);
  EXPECT_EQ(big.dropout.sublayer, 0.3);
  EXPECT_EQ(big.norm, NormPlacement::pre);
  const TrainOptions tiny = train({"--dec-depth", "2", "--task", "transformer-tiny"});
  EXPECT_EQ(tiny.encoder_layers, 4);
  EXPECT_EQ(tiny.decoder_layers, 2);
  EXPECT_EQ(tiny.dim, 128);
  EXPECT_EQ(tiny.feed_forward, 256);
  EXPECT_EQ(tiny.heads, 4);
  EXPECT_EQ(tiny.dropout.sublayer, 0.3);
}

TEST(TrainFlags, ScaleInitialWeightsOfPostNormModelsByDepth) {
  const std::string option = "--transformer-depth-scaling", prenorm = "transformer-base-prenorm";
  EXPECT_EQ(train({}).initialisation, Initialisation::depth_scaled);
  EXPECT_EQ(train({"--task", "transformer-tiny"}).initialisation, Initialisation::depth_scaled);
  for (const char* off : {"false", "no", "off"})
    EXPECT_EQ(train({option, off}).initialisation, Initialisation::glorot_uniform) << off;
  for (const char* on : {"true", "yes", "on", "auto"})
    EXPECT_EQ(train({option, on}).initialisation, Initialisation::depth_scaled) << on;
  EXPECT_EQ(train({"--task", prenorm}).initialisation, Initialisation::glorot_uniform);
  EXPECT_EQ(train({"--task", prenorm, option}).initialisation, Initialisation::depth_scaled);
  EXPECT_EQ(train({"--type", "s2s"}).initialisation, Initialisation::glorot_uniform);
  EXPECT_EQ(train({"--type", "s2s", option, "false"}).initialisation, Initialisation::glorot_uniform);
  const Error error = thrown_by([&] { train({"--type", "s2s", option}); });
  EXPECT_THAT(error.what(), HasSubstr("--transformer-depth-scaling is for Transformers, not for --type s2s"));
}

TEST(TrainFlags, TakeMariansSpellingsOfNormPlacementAndPositions) {
  EXPECT_EQ(train({"--transformer-preprocess", "n", "--transformer-postprocess", "da"}).norm, NormPlacement::pre);
  EXPECT_EQ(train({"--transformer-preprocess", "", "--transformer-postprocess", "dan"}).norm, NormPlacement::post);
  EXPECT_EQ(train({"--transformer-train-position-embeddings"}).positions, Positions::learned);
  EXPECT_THAT(error_of([] {
                train({"--transformer-preprocess", "n"});
              }),
              HasSubstr("'n' and --transformer-postprocess 'dan'"));
}

TEST(TrainFlags, TakeAdamsNumbersTogether) {
  const TrainOptions o = train({"--optimizer-params", "0.8", "0.95", "1e-7"});
  EXPECT_EQ(o.beta1, 0.8);
  EXPECT_EQ(o.beta2, 0.95);
  EXPECT_EQ(o.epsilon, 1e-7);
  EXPECT_THAT(error_of([] { train({"--optimizer-params", "0.9"}); }), HasSubstr("beta1, beta2 and epsilon, found 1"));
  EXPECT_THAT(error_of([] {
                train({"--optimizer-params", "0", "0", "0"});
              }),
              HasSubstr("--optimizer-params: epsilon 0 must be at least 1e-30"));
}

TEST(TrainFlags, TieEverythingOnlyWhenTheVocabularyIsJointAndNothingElseIsSaid) {
  EXPECT_TRUE(train({}).embeddings.tied_all);
  const TrainOptions apart = train({}, {"v", "w"});
  EXPECT_FALSE(apart.embeddings.ties_source());
  EXPECT_TRUE(apart.embeddings.ties_output());
  const TrainOptions target = train({"--tied-embeddings"});
  EXPECT_FALSE(target.embeddings.ties_source());
  EXPECT_TRUE(target.embeddings.ties_output());
  EXPECT_FALSE(train({"--tied-embeddings-all", "false"}).embeddings.ties_output());
  EXPECT_THAT(error_of([] { train({"--tied-embeddings-all"}, {"v", "w"}); }), HasSubstr("--vocabs names two: v, w"));
  EXPECT_THAT(error_of([] { train({"--tied-embeddings-src"}, {"v", "w"}); }), HasSubstr("--tied-embeddings-src"));
}

TEST(TrainFlags, NameBothOfTwoOptionsThatContradictEachOther) {
  const auto message = [](const Strings& arguments) { return error_of([&] { train(arguments); }); };
  EXPECT_THAT(message({"--transformer-heads", "7"}),
              HasSubstr("--dim-emb 512 cannot be divided among --transformer-heads 7"));
  EXPECT_EQ(message({"--transformer-heads", "7", "--transformer-dim-key", "64"}), "");
  EXPECT_THAT(message({"--dim-emb", "33", "--transformer-heads", "3"}), HasSubstr("--dim-emb 33 is odd"));
  EXPECT_THAT(message({"--lr-schedule", "cosine"}),
              HasSubstr("needs --lr-decay-updates above --lr-warmup 4000, found 0"));
  EXPECT_THAT(message({"--lr-decay-inv-sqrt", "4000", "--lr-schedule", "constant"}),
              HasSubstr("--lr-schedule constant"));
  EXPECT_THAT(message({"--mini-batch-words", "0"}), HasSubstr("--mini-batch-words and --mini-batch are both 0"));
  EXPECT_THAT(message({"--keep-best"}), HasSubstr("needs --valid-sets"));
  EXPECT_THAT(message({"--keep-best", "--valid-sets", "s", "t", "--valid-freq", "0"}),
              HasSubstr("--keep-best needs --valid-sets, with --valid-freq above 0"));
  EXPECT_THAT(message({"--overwrite", "--keep-last", "5"}), HasSubstr("--keep-last 5"));
  EXPECT_THAT(message({"--sentencepiece-alphas", "0.1", "--no-spm-encode"}), HasSubstr("--no-spm-encode"));
  EXPECT_THAT(message({"--dim-vocabs", "100", "200"}), HasSubstr("one joint vocabulary has one size"));
  EXPECT_THAT(message({"--dim-vocabs", "100", "200", "300"}), HasSubstr("found 3"));
  EXPECT_THAT(message({"--valid-sets", "one"}),
              HasSubstr("--valid-sets takes two files, source and target, found 1: one"));
}

// Marian's and older configuration files have it as a switch.
TEST(TrainFlags, KeepBestTakesANumberOrNone) {
  const auto kept = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--valid-sets", "s", "t"});
    return train(words).keep_best;
  };
  EXPECT_EQ(kept({}), 0);
  EXPECT_EQ(kept({"--keep-best"}), 1);
  EXPECT_EQ(kept({"--keep-best", "5"}), 5);
  EXPECT_EQ(kept({"--keep-best", "true"}), 1);
  EXPECT_EQ(kept({"--keep-best=false"}), 0);
  EXPECT_THAT(error_of([&] { kept({"--keep-best", "-1"}); }), HasSubstr("--keep-best: -1 is out of range"));
  for (const char* word : {"x", "2.5", "=", "maybe"})
    EXPECT_THAT(error_of([&] {
                  kept({"--keep-best", word});
                }),
                HasSubstr(fmt::format("--keep-best: '{}' is neither a whole number nor true or false", word)));
}

TEST(TrainFlags, HaveAllTheirContradictionsInOneAnswer) {
  const std::string said = error_of([] {
    train({"--transformer-heads", "7", "--keep-best", "--lr-schedule", "cosine", "--optimizer-params", "0.9",
           "--dec-cell", "lstm", "--precision", "float16", "--dim-vocabs", "100", "200", "300"});
  });
  EXPECT_THAT(said, testing::StartsWith("7 problems with the options of dragoman train\n"));
  for (const char* part :
       {"--transformer-heads 7", "--keep-best needs --valid-sets", "--lr-schedule cosine needs --lr-decay-updates",
        "--optimizer-params takes beta1, beta2 and epsilon, found 1", "--dec-cell lstm is for --type s2s",
        "--precision float16 is for GPUs", "--dim-vocabs takes one number for both sides or one each, found 3"})
    EXPECT_THAT(said, HasSubstr(part));
}

// A full configuration of dragoman's own names both options, a configuration of Marian only the first.
TEST(TrainFlags, WarnWhereOverwriteIsFalseAndNoCheckpointsAreKept) {
  const auto said = [](const Strings& words) {
    std::string all;
    const LogSink sink = [&](LogLevel, std::string_view line) { all += line; };
    const LogScope scope(&sink);
    train(words);
    return all;
  };
  EXPECT_THAT(said({"--overwrite=false"}), HasSubstr("--keep-last N keeps the last N"));
  EXPECT_EQ(said({"--overwrite=false", "--keep-last", "3"}), "");
  EXPECT_EQ(said({"--overwrite=false", "--keep-last", "0"}), "");
  EXPECT_EQ(said({"--overwrite"}), "");
}

TEST(TrainFlags, WarnOfNothingWhereTheyAreRefused) {
  std::string said;
  const LogSink sink = [&](LogLevel, std::string_view line) { said += line; };
  const LogScope scope(&sink);
  EXPECT_NE(error_of([] { train({"--overwrite", "--keep-last", "5", "--valid-freq", "7"}); }), "");
  EXPECT_EQ(said, "");
}

TEST(TranslateFlags, HaveAllTheirContradictionsInOneAnswer) {
  const std::string said = error_of([] {
    translate({"--weights", "0", "0", "--length-penalty", "gnmt", "0.6", "-n", "--temperature", "2", "--scores",
               "--n-best", "--devices", "0", "0"});
  });
  EXPECT_THAT(said, testing::StartsWith("5 problems with the options of dragoman translate\n"));
  for (const char* part :
       {"--weights has 2 numbers", "--length-penalty and --normalize 1 are two ways",
        "--temperature 2 is for --output-sampling", "--scores and --n-best: give one", "--devices names 0 twice (0 0)"})
    EXPECT_THAT(said, HasSubstr(part));
}

TEST(OtherFlags, HaveAllTheirContradictionsInOneAnswer) {
  const auto problems_of = [](const auto& table, auto options, const Strings& words) {
    const std::string said = error_of([&] { parse(table, words, options); });
    return std::stoi("0" + said);
  };
  EXPECT_EQ(problems_of(
                score_table(), ScoreCommandOptions(),
                {"-m", "m", "-t", "s", "t", "--n-best", "--word-scores", "--summary", "ce-mean-words", "--normalize"}),
            3);
  EXPECT_EQ(problems_of(explain_table(), ExplainCommandOptions(),
                        {"--positions", "--heads", "1", "--max-lines", "3", "--format", "text", "-m", "m"}),
            3);
  EXPECT_EQ(problems_of(vocab_table(), VocabOptions(), {"encode", "-m", "v", "--size", "300", "--no-byte-fallback"}),
            2);
  EXPECT_EQ(
      problems_of(evaluate_table(), EvaluateCommandOptions(), {"-r", "-", "-i", "-", "--paired-bs", "--paired-ar"}), 3);
  EXPECT_EQ(problems_of(align_table(), AlignCommandOptions(),
                        {"-t", "a", "b", "--reverse", "--shortlist", "l", "-v", "v", "v", "-m", "m"}),
            2);
  EXPECT_EQ(problems_of(quantize_table(), QuantizeCommandOptions(),
                        {"-m", "m", "-o", "q", "--gate", "1", "--beam-size", "2"}),
            2);
}

TEST(TranslateFlags, HaveEitherOfTwoLengthPenalties) {
  EXPECT_EQ(translate({}).normalize, 1);
  const auto gnmt = translate({"--length-penalty", "gnmt", "0.6"});
  EXPECT_EQ(gnmt.length_penalty, 0.6);
  EXPECT_EQ(gnmt.normalize, 0);
  EXPECT_THAT(error_of([] { translate({"--length-penalty", "gnmt", "0.6", "-n"}); }), HasSubstr("give one"));
  EXPECT_THAT(error_of([] { translate({"--length-penalty", "gnmt", "big"}); }), HasSubstr("'big' is not a number"));
  EXPECT_THAT(error_of([] { translate({"--length-penalty", "0.6"}); }), HasSubstr("expected gnmt and a number"));
}

TEST(TranslateFlags, ListNBestUpToTheBeam) {
  EXPECT_EQ(translate({}).n_best, 0);
  EXPECT_EQ(translate({"--n-best", "-b", "7"}).n_best, 7);
  EXPECT_EQ(translate({"--n-best", "2", "-b", "7"}).n_best, 2);
  EXPECT_THAT(error_of([] { translate({"--n-best", "-1"}); }), HasSubstr("expected from 0 to 1024"));
  EXPECT_THAT(error_of([] { translate({"--n-best", "8", "-b", "7"}); }), HasSubstr("--n-best 8 exceeds --beam-size 7"));
}

TEST(OtherFlags, TakeBareWords) {
  AverageCommandOptions average;
  parse(average_table(), {"--output", "o", "a", "b"}, average);
  EXPECT_THAT(average.models, ElementsAre("a", "b"));
  VocabOptions vocab;
  parse(vocab_table(), {"encode", "-m", "v.spm", "--ids"}, vocab);
  EXPECT_EQ(vocab.action, VocabAction::encode);
  InspectOptions inspect;
  parse(inspect_table(), {"m.safetensors"}, inspect);
  EXPECT_EQ(inspect.model, "m.safetensors");
}

TEST(OtherFlags, SayWhatIsMissingOrTooMuch) {
  EXPECT_THAT(error_of([] {
                InspectOptions o;
                parse(inspect_table(), {}, o);
              }),
              HasSubstr("nothing to inspect"));
  EXPECT_THAT(error_of([] {
                InspectOptions o;
                parse(inspect_table(), {"m", "-d"}, o);
              }),
              HasSubstr("--devices"));
  EXPECT_THAT(error_of([] {
                InspectOptions o;
                parse(inspect_table(), {"m", "n"}, o);
              }),
              HasSubstr("'n'"));
  EXPECT_THAT(error_of([] {
                VocabOptions o;
                parse(vocab_table(), {"train", "-m", "v"}, o);
              }),
              HasSubstr("--input"));
  EXPECT_THAT(error_of([] {
                ScoreCommandOptions o;
                parse(score_table(), {"-m", "m", "-t", "-", "-"}, o);
              }),
              HasSubstr("stdin"));
  EXPECT_THAT(error_of([] {
                EvaluateCommandOptions o;
                parse(evaluate_table(), {"-r", "-", "-i", "-"}, o);
              }),
              HasSubstr("stdin"));
}

// As SentencePiece bounds it.
TEST(VocabFlags, HaveTheBoundsOfTraining) {
  const auto coverage = [](const char* share) {
    return error_of([&] {
      VocabOptions o;
      parse(vocab_table(), {"train", "-m", "v", "-i", "text", "--character-coverage", share}, o);
    });
  };
  EXPECT_EQ(coverage("0.98"), "");
  EXPECT_THAT(error_of([] {
                VocabOptions o;
                parse(vocab_table(),
                      {"train", "-m", "v", "-i", "text", "--character-coverage", "0.99", "--sentencepiece-options",
                       "--character_coverage=0.9995"},
                      o);
              }),
              HasSubstr("set the same: give one"));
  EXPECT_EQ(coverage("0.97"), "--character-coverage: 0.97 is out of range, expected from 0.98 to 1");
}

TEST(ScoreFlags, TakeASummaryAloneOrByName) {
  ScoreCommandOptions alone, named;
  parse(score_table(), {"-m", "m", "--summary", "-t", "a", "b"}, alone);
  EXPECT_EQ(alone.summary, Summary::cross_entropy);
  parse(score_table(), {"-m", "m", "-t", "a", "b", "--summary", "perplexity"}, named);
  EXPECT_EQ(named.summary, Summary::perplexity);
}

TEST(ScoreFlags, NameFeaturesByAWord) {
  for (const char* name : {"", "a b", "a\nb", "a\rb", "a\tb", "a=b", "a|b"}) {
    ScoreCommandOptions o;
    EXPECT_THAT(error_of([&] {
                  parse(score_table(), {"-m", "m", "-t", "s", "t", "--n-best", "--n-best-feature", name}, o);
                }),
                HasSubstr("--n-best-feature"))
        << name;
  }
}

}  // namespace
}  // namespace dragoman
