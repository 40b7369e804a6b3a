#include <fmt/format.h>

#include "base/error.h"
#include "cli/average_options.h"
#include "cli/commands.h"
#include "cli/score_options.h"
#include "data/parallel_text.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {
namespace {

using O = ScoreCommandOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "the model, which includes its vocabularies",
       .required = true,
       .use = FileUse::read_model},
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET",
       .group = group,
       .help = "text to score; with --n-best, TARGET is an n-best list",
       .required = true},
      {.name = "tsv",
       .field = &O::tsv,
       .group = group,
       .help = "--train-sets is one file that holds both sides: SOURCE tab TARGET on each line"},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "scores; - is stdout",
       .use = FileUse::written},
      {.name = "n-best",
       .field = &O::n_best,
       .group = group,
       .help = "score each entry of an n-best list ('line ||| translation ||| features', lines of SOURCE counted from "
               "0) and append the score to its features; scores include the end of sentence, which translations cut at "
               "the length limit lack"},
      {.name = "n-best-feature",
       .field = &O::n_best_feature,
       .value = "NAME",
       .group = group,
       .help = "name of the feature that --n-best adds"},
      no_spm_encode_flag<O>(group),
  };
}

std::vector<Flag<O>> scoring_flags() {
  static constexpr auto group = "Scoring";
  static constexpr auto run = "Run";
  return {
      {.name = "summary",
       .field = &O::summary,
       .value = "KIND",
       .group = group,
       .help = "print one number for all pairs; cross-entropy and ce-mean: negative log-probability per sentence; "
               "ce-mean-words: per target token; perplexity: the exponential of ce-mean-words; without a value: "
               "cross-entropy",
       .implicit = "cross-entropy"},
      {.name = "normalize",
       .letter = 'n',
       .field = &O::normalize,
       .group = group,
       .help = "divide each log-probability by the number of target tokens, end of sentence included"},
      {.name = "word-scores",
       .field = &O::word_scores,
       .group = group,
       .help = "append ' ||| WordScores=' and the log-probability of each token to each score; in n-best lists, before "
               "the features"},
      alignment_flag<O>(group),
      {.name = "mini-batch-words",
       .field = &O::mini_batch_words,
       .value = "N",
       .group = run,
       .help = "target tokens scored at once",
       .range = {1, 10'000'000}},
      {.name = "maxi-batch-lines",
       .field = &O::maxi_batch_lines,
       .value = "N",
       .group = run,
       .help = "lines read ahead and sorted by length",
       .range = {1, 10'000'000}},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = run,
       .help = "stop with an error at a pair with more than N pieces on a side",
       .range = {1, 1'000'000}},
  };
}

void check(O& o, const Given& given, Findings& findings) {
  findings.attempt([&] { o.devices = backend_names(o.devices, o.fast_math); });
  if (o.tsv) {
    findings.expect(o.train_sets.size() == 1, "--train-sets takes one file with --tsv, found {}: {}",
                    o.train_sets.size(), fmt::join(o.train_sets, " "));
    findings.expect(!o.n_best, "--n-best contradicts --tsv: its translations are in a list of their own");
  } else {
    check_pair("train-sets", o.train_sets, findings);
    findings.attempt([&] { require_one_side("train-sets", o.train_sets); });
  }
  check_vocabs(o, findings);
  o.alignments = o.alignment.kind != AlignmentStyle::none;
  findings.expect(o.n_best || !given.changed("n-best-feature"),
                  "--n-best-feature {} is for --n-best, which is not given", o.n_best_feature);
  findings.expect(o.n_best_feature.find_first_of(" \t\r\n=|") == std::string::npos && !o.n_best_feature.empty(),
                  "--n-best-feature: '{}' is empty or contains a blank, a line end, = or |, expected a word",
                  o.n_best_feature);
  if (o.summary == Summary::none) return;
  const std::string summary(name_of(o.summary));
  findings.expect(!o.n_best, "--n-best contradicts --summary {}, which prints one figure", summary);
  findings.expect(!o.word_scores, "--word-scores contradicts --summary {}, which prints one figure", summary);
  findings.expect(o.alignment.kind == AlignmentStyle::none,
                  "--alignment contradicts --summary {}, which prints one figure", summary);
  if (o.normalize)
    findings.add(Error(
        fmt::format("--normalize contradicts --summary {}, which is computed from whole log-probabilities", summary),
        "--summary ce-mean-words is the mean over target tokens"));
}

}  // namespace

Table<O> score_table() {
  return {
      .about = {.name = "score",
                .summary = "print the log-probability of translations",
                .usage = "-m MODEL -t SOURCE TARGET [OPTION...]",
                .text =
                    "Prints the log-probability (base e) that the model assigns to each "
                    "target line given its source line, one number per line. Weights of 8 bits are scored in float32, "
                    "without the rounding of activations that translate applies, so scores differ slightly from those "
                    "of translate."},
      .flags = joined(file_flags(), open_flags<O>("Files"), scoring_flags(), shared_work_flags<O>("Run")),
      .check = check};
}

}  // namespace dragoman
