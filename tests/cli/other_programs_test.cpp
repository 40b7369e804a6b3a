#include <gmock/gmock.h>

#include <set>

#include "cli/align_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/evaluate_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "options/foreign.h"
#include "options/train_table.h"
#include "tests/cli/option_answer.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* train_arguments = "-m m -t s t -v v v";

TEST(OtherPrograms, HaveOptionsWithAnAnswerForTheCommand) {
  EXPECT_EQ(foreign_option("output", "train")->answer, "--model names the model's file");
  for (const char* name : {"alignment-matrix", "src_feats_vocab"}) EXPECT_NE(foreign_option(name, "train"), nullptr);
  EXPECT_EQ(foreign_answer("ensemble", "train"), "");
  EXPECT_THAT(std::string(foreign_answer("ensemble", "translate")), HasSubstr("averages log-probabilities"));
  EXPECT_THAT(std::string(foreign_program("atools")), HasSubstr("dragoman align"));
}

TEST(FairseqsOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {{"--lr 1", "--learn-rate"},
                                                        {"--max-tokens 4096", "--mini-batch-words"},
                                                        {"--max-update 9", "--after"},
                                                        {"--arch transformer", "--task"},
                                                        {"--patience 10", "--early-stopping"},
                                                        {"--lr-scheduler reduce_lr_on_plateau", "--lr-decay 0.1"},
                                                        {"--lr-shrink 0.5", "--lr-decay"},
                                                        {"--lr-patience 2", "--lr-decay X"},
                                                        {"--alignment-lambda 0.05", "--guided-alignment-weight"},
                                                        {"--encoder-langtok tgt", "--protected-symbols"},
                                                        {"--best-checkpoint-metric bleu", "--keep-best"},
                                                        {"--update-freq 4", "--optimizer-delay"},
                                                        {"-s de", "--train-sets"},
                                                        {"--task translation", "--type"},
                                                        {"--criterion cross_entropy", "--label-smoothing"},
                                                        {"--distributed-world-size 8", "--devices"},
                                                        {"--ema-decay 0.9999", "--exponential-smoothing"},
                                                        {"--user-dir mine", "plug-ins"}};
  for (const auto& [words, name] : called) {
    const Answer<TrainOptions> answer(train_table(), split(std::string(train_arguments) + " " + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
  for (const auto& [words, name] :
       {std::pair("-s en", "--input names the text"), std::pair("--lenpen 0.6", "--normalize"),
        std::pair("--max-len-b 50", "--max-length-add"), std::pair("--max-len-a 1.2", "--max-length-factor"),
        std::pair("--unnormalized", "--normalize 0"), std::pair("--post-process letter", "SentencePiece"),
        std::pair("--patience 2", "--search-rule"), std::pair("--beam 5", "--beam-size")}) {
    const Answer<TranslateCommandOptions> answer(translate_table(), split(std::string("-m m ") + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
}

TEST(FairseqsOptions, MayHaveAnAnswerForAValue) {
  const auto hint = [](const std::string& words) {
    return Answer<TrainOptions>(train_table(), split(std::string(train_arguments) + " " + words)).said;
  };
  EXPECT_THAT(hint("--arch transformer_iwslt_de_en"),
              HasSubstr(" | --task transformer-base --transformer-dim-ffn 1024 --transformer-heads 4"));
  EXPECT_THAT(hint("--arch transformer"), HasSubstr(" | --task transformer-base has the sizes of transformer"));
  EXPECT_THAT(hint("--shuffle batches"), HasSubstr(" | leave it out: the text is shuffled as a whole"));  // Marian's
  EXPECT_THAT(hint("--shuffle none"), HasSubstr(" | --no-shuffle keeps the order"));
}

TEST(FairseqsOptions, ThatJoinPiecesAreIgnoredAsTranslationsAreText) {
  for (const char* words : {"--remove-bpe", "--remove-bpe=sentencepiece", "--remove-bpe @@"}) {
    const Answer<TranslateCommandOptions> answer(translate_table(), split(std::string("-m m ") + words));
    EXPECT_EQ(answer.outcome(), ignored) << words;
    EXPECT_THAT(answer.said, HasSubstr("pieces of SentencePiece, and those of a list that end in @@"));
  }
  EXPECT_EQ(Answer<TranslateCommandOptions>(translate_table(), {"-m", "m", "--remove-bpe", "@@ "}).outcome(), ignored);
  EXPECT_EQ(Answer<TranslateCommandOptions>(translate_table(), split("-m m --post-process subword_nmt")).outcome(),
            ignored);
  EXPECT_EQ(
      Answer<TrainOptions>(train_table(), split(std::string(train_arguments) + " --eval-bleu-remove-bpe")).outcome(),
      ignored);
}

TEST(FairseqsOptions, AreIgnoredWithValuesThatChangeNothingHere) {
  for (const char* words : {"--lr-scheduler inverse_sqrt", "--criterion label_smoothed_cross_entropy",
                            "--warmup-init-lr -1", "--alignment-heads 1", "--sampling-method concat",
                            "--distributed-world-size 1", "--skip-invalid-size-inputs-valid-test"})
    EXPECT_EQ(Answer<TrainOptions>(train_table(), split(std::string(train_arguments) + " " + words)).outcome(), ignored)
        << words;
}

TEST(FairseqsOptions, MayFollowAFolderOfPreparedDataWhichIsNotNeeded) {
  const Answer<TrainOptions> answer(train_table(), split("data-bin --arch transformer -m m -t s t -v v v"));
  EXPECT_THAT(answer.said,
              HasSubstr("unexpected argument 'data-bin'\n    hint: text is read directly, not from a folder "
                        "of prepared data: --train-sets names its files; usage: dragoman train -t"));
}

TEST(OpenNmtsOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {
      {"--word_vec_size 512", "--dim-emb"},          {"-word_vec_size 512", "--dim-emb"},
      {"--share_vocab", "joint vocabulary"},         {"--train_from m.pt", "--pretrained-model"},
      {"--batch_type tokens", "--mini-batch-words"}, {"--save_checkpoint_steps 5000", "--save-freq"},
      {"--train_steps 100000", "--after 100000u"},   {"--accum_count 4", "--optimizer-delay"},
      {"--coverage_attn", "docs/attention.md"},      {"--dynamic_dict", "--copy"}};
  for (const auto& [words, name] : called) {
    const Answer<TrainOptions> answer(train_table(), split(std::string(train_arguments) + " " + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
  EXPECT_EQ(Answer<TrainOptions>(train_table(), split(std::string(train_arguments) + " --optim adam")).outcome(),
            ignored);
  const Answer<TranslateCommandOptions> answer(translate_table(), split("-m m -src text -beam_size 5 --batch_size 30"));
  EXPECT_THAT(answer.said, HasSubstr("there is no option -src\n    hint: --input names the text"));
  EXPECT_THAT(answer.said, HasSubstr("there is no option -beam_size\n    hint: use --beam-size"));
  EXPECT_THAT(answer.said, testing::StartsWith("2 problems"));
}

TEST(JoeyNmtsSections, AreAnsweredByThePageWithItsNames) {
  for (const char* section : {"name", "training", "testing"})
    for (const char* command : {"train", "translate"}) {
      ASSERT_NE(foreign_option(section, command), nullptr) << section;
      EXPECT_THAT(std::string(foreign_option(section, command)->answer), HasSubstr("docs/coming_from_fairseq.md"));
    }
}

TEST(CTranslate2sOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {{"--num_hypotheses 5", "--n-best"},
                                                        {"--max_decoding_length 250", "--max-length-add"},
                                                        {"--min_decoding_length 2", "--min-length"},
                                                        {"--intra_threads 4", "--cpu-threads"},
                                                        {"--inter_threads 4", "--cpu-threads"},
                                                        {"--compute_type int8", "--precision"},
                                                        {"--repetition_penalty 1.2", "penalty"},
                                                        {"--no_repeat_ngram_size 3", "--no-repeat-ngram"},
                                                        {"--length_penalty 1", "--normalize A"},
                                                        {"--coverage_penalty 0.2", "coverage"},
                                                        {"--sampling_topk 10", "--output-sampling"},
                                                        {"--sampling_temperature 0.8", "--temperature"},
                                                        {"--return_scores", "--scores"},
                                                        {"--target_prefix p", "--force-decode"},
                                                        {"--use_vmap", "--shortlist"},
                                                        {"--suppress_sequences x", "--avoid"},
                                                        {"--device_index 1", "--devices"}};
  for (const auto& [words, name] : called) {
    const Answer<TranslateCommandOptions> answer(translate_table(), split(std::string("-m m ") + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name)) << words;
  }
  for (const char* words : {"--max_batch_size 32", "--batch_type tokens", "--repetition_penalty 1", "--suppress_unk",
                            "--disable_unk", "--compute_type default", "--sampling_topk 1"})
    EXPECT_EQ(Answer<TranslateCommandOptions>(translate_table(), split(std::string("-m m ") + words)).outcome(),
              ignored)
        << words;
  EXPECT_THAT(std::string(foreign_option("output_dir", "convert")->answer), HasSubstr("--output"));
  EXPECT_THAT(std::string(foreign_option("quantization", "convert")->answer), HasSubstr("dragoman quantize"));
}

TEST(SockeyesOptions, SayWhatTheyAreCalledHere) {
  const std::pair<const char*, const char*> called[] = {{"--num-layers 6:2", "--enc-depth"},
                                                        {"--checkpoint-interval 4000", "--valid-freq"},
                                                        {"--transformer-model-size 512", "--dim-emb"},
                                                        {"--initial-learning-rate 0.1", "--learn-rate"},
                                                        {"--decode-and-evaluate 500", "--valid-metrics bleu"},
                                                        {"--learning-rate-reduce-num-not-improved 8", "--lr-decay X"},
                                                        {"--gradient-clipping-type abs", "single elements"},
                                                        {"-o model", "--model names the model's file"},
                                                        {"--device-id 0", "--devices"}};
  for (const auto& [words, name] : called) {
    const Answer<TrainOptions> answer(train_table(), split(std::string(train_arguments) + " " + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name));
  }
  EXPECT_EQ(Answer<TranslateCommandOptions>(translate_table(), split("-m m --chunk-size 9")).outcome(), ignored);
  EXPECT_EQ(Answer<TrainOptions>(train_table(), split(std::string(train_arguments) + " --gradient-clipping-type norm"))
                .outcome(),
            ignored);
}

TEST(VocabularyOptions, OfTrainSayWhatTheyAreCalledInVocab) {
  for (const auto& [words, name] :
       {std::pair("--dim-vocabs 8000", "--size"), std::pair("--vocab_size=8000", "--size"),
        std::pair("--vocab-type unigram", "--type"), std::pair("--vocab-normalization nfkc", "--normalization"),
        std::pair("--normalization_rule_name=nfkc", "--normalization")}) {
    const Answer<VocabOptions> answer(vocab_table(), split(std::string("train -m m -i text ") + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said.substr(answer.said.find(" | ")), HasSubstr(name)) << words;
  }
}

TEST(ForeignOptions, OfSacrebleuAndFastAlignAreAnsweredWhereTheyBelong) {
  const std::pair<const char*, const char*> of_sacrebleu[] = {{"-tok zh", "--tokenize"},
                                                              {"-sl", "--sentence-level"},
                                                              {"-t wmt14", "test sets are not downloaded"},
                                                              {"-w 4", "--json prints all"},
                                                              {"-m bleu", "--metrics"},
                                                              {"-b", "--json"},
                                                              {"-lc", "--lowercase"},
                                                              {"--smooth-method floor", "exp"},
                                                              {"--chrf-word-order 2", "chrf++"},
                                                              {"--width 4", "--json prints all"}};
  for (const auto& [words, hint] : of_sacrebleu) {
    const Answer<EvaluateCommandOptions> answer(evaluate_table(), split(std::string("-r r ") + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said, HasSubstr(hint)) << words;
  }
  const std::pair<const char*, const char*> of_fast_align[] = {
      {"-i text", "--train-sets"}, {"-d", "diagonal"}, {"-r", "--reverse"}, {"-I 5", "--iterations"}};
  for (const auto& [words, hint] : of_fast_align) {
    const Answer<AlignCommandOptions> answer(align_table(), split(std::string("-t s t -m m ") + words));
    EXPECT_EQ(answer.outcome(), refused) << words;
    EXPECT_THAT(answer.said, HasSubstr(hint)) << words;
  }
  const Answer<AlignCommandOptions> word(align_table(), split("-t s t -m m -alignment x"));
  EXPECT_EQ(word.outcome(), refused);
  EXPECT_THAT(word.said, HasSubstr("there is no option -alignment"));
  EXPECT_THAT(word.said, Not(HasSubstr("--variational-bayes")));  // of -a
  EXPECT_EQ(foreign_option("c", "align"), nullptr);               // --config
  EXPECT_EQ(foreign_option("w", "inspect"), nullptr);             // Marian's --workspace
  EXPECT_NE(foreign_option("w", "translate"), nullptr);
}

// The first table that has a name answers for it.
TEST(ForeignOptions, OfTheLaterTablesAreInNoEarlierOne) {
  for (const auto& rows : {opennmt_options(), sockeye_options(), ctranslate2_options()})
    for (const Foreign& row : rows)
      for (const std::string& name : split(std::string(row.names))) {
        const std::string command = row.commands.empty() ? "average" : split(std::string(row.commands))[0];
        EXPECT_EQ(foreign_option(name, command), &row) << name;
      }
}

TEST(ForeignPrograms, SayWhatTheyAreCalledHere) {
  EXPECT_TRUE(foreign_program("marian-evaluator").starts_with("not here"));
  for (const char* name : {"generate", "decode", "marian-decoder"})
    EXPECT_TRUE(foreign_program(name).starts_with("dragoman translate")) << name;
  EXPECT_EQ(foreign_program("marian-scorer"), "dragoman score");
  EXPECT_TRUE(foreign_program("marian-vocab").starts_with("dragoman vocab train -m vocab.yml"));
  EXPECT_TRUE(foreign_program("spm_train").starts_with("dragoman vocab train"));
  EXPECT_TRUE(foreign_program("preprocess").starts_with("not needed"));
  EXPECT_TRUE(foreign_program("onmt_train").starts_with("dragoman train"));
  EXPECT_TRUE(foreign_program("ct2-opennmt-py-converter").starts_with("dragoman convert"));
  EXPECT_EQ(foreign_program("sockeye-translate"), "dragoman translate");
  EXPECT_EQ(foreign_program("apply_bpe"), "dragoman vocab encode");
  EXPECT_EQ(foreign_program("elephant"), "");
}

// Options in an answer, without those of the row itself.
TEST(ForeignOptions, HaveAnswersThatNameOptionsThatExist) {
  std::set<std::string> known{"--version"};
  for (const Command& command : all_commands())
    for (const std::string& name : all_names(command.options())) known.insert("--" + name);
  for (const auto& rows :
       {marian_options(), fairseq_options(), opennmt_options(), sockeye_options(), sacrebleu_options(),
        ctranslate2_options(), marian_programs(), fairseq_programs(), opennmt_programs(), sockeye_programs()})
    for (const Foreign& row : rows)
      for (std::string word : split(std::string(row.answer))) {
        while (!word.empty() && std::ispunct(uint8_t(word.back()))) word.pop_back();
        if (word.starts_with("--")) {
          EXPECT_TRUE(known.contains(word)) << word << " in: " << row.answer;
        }
      }
}

}  // namespace
}  // namespace dragoman
