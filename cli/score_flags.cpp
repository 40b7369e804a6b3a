#include "base/error.h"
#include "cli/devices.h"
#include "cli/tables.h"

namespace dragoman {
namespace {

std::vector<Flag<ScoreOptions>> file_flags() {
  using O = ScoreOptions;
  static constexpr auto group = "Files";
  return {
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "the model; it holds its vocabularies",
       .required = true},
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET",
       .group = group,
       .help = "the text to be scored; with --n-best, TARGET is an n-best list",
       .required = true},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "scores; - is stdout"},
      {.name = "n-best",
       .field = &O::n_best,
       .group = group,
       .help = "score each entry of an n-best list ('line ||| translation ||| features', lines of SOURCE counted from "
               "0) and print the list with the score as another feature; each with its end of sentence, which what "
               "translate cut at the limit of length has not"},
      {.name = "n-best-feature",
       .field = &O::n_best_feature,
       .value = "NAME",
       .group = group,
       .help = "what that feature is called"},
      {.name = "no-spm-encode",
       .field = &O::no_spm_encode,
       .group = group,
       .help = "the text is already pieces, separated by blanks"},
  };
}

std::vector<Flag<ScoreOptions>> scoring_flags() {
  using O = ScoreOptions;
  static constexpr auto group = "Scoring";
  static constexpr auto run = "Run";
  return {
      {.name = "summary",
       .field = &O::summary,
       .value = "KIND",
       .group = group,
       .help = "print one figure for all pairs instead: cross-entropy is the negative log-probability a sentence "
               "(so is ce-mean), ce-mean-words that a target piece, perplexity its exponential; alone: "
               "cross-entropy",
       .implicit = "cross-entropy"},
      {.name = "normalize",
       .letter = 'n',
       .field = &O::normalize,
       .group = group,
       .help = "divide each log-probability by the pieces of the target, end of sentence included"},
      {.name = "word-scores",
       .field = &O::word_scores,
       .group = group,
       .help = "put ' ||| WordScores=' and the log-probability of each piece after each score, in n-best lists before "
               "the features"},
      {.name = "alignment",
       .field = &O::alignment,
       .value = "hard|soft|X",
       .group = group,
       .help = "put ' ||| ' and which source pieces each target piece looks at after each score, in n-best lists "
               "before the features, as Marian does: hard has a pair i-j for each target piece j, a number X all pairs "
               "with a weight above it, soft the weights; </s> counts as a piece (docs/explain.md); alone: hard",
       .implicit = "hard"},
      {.name = "mini-batch-words",
       .field = &O::mini_batch_words,
       .value = "N",
       .group = run,
       .help = "target pieces scored at once",
       .range = {1, 10'000'000}},
      {.name = "maxi-batch-lines",
       .field = &O::maxi_batch_lines,
       .value = "N",
       .group = run,
       .help = "lines read ahead to be sorted by length",
       .range = {1, 10'000'000}},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = run,
       .help = "refuse a pair with more than N pieces on a side",
       .range = {1, 1'000'000}},
      {.name = "cpu-threads",
       .field = &O::cpu_threads,
       .value = "N",
       .group = run,
       .help = "threads; 0: one a core",
       .range = {0, 1024}},
      {.name = "devices",
       .letter = 'd',
       .field = &O::devices,
       .value = "DEVICE...",
       .group = run,
       .help = "where to compute: cpu, or the number of a GPU, counted from 0"},
      {.name = "fast-math",
       .field = &O::fast_math,
       .group = run,
       .help = "on a GPU, products of float32 see 10 bits behind the point (TF32) instead of 23: faster"},
      {.name = "profile",
       .field = &O::profile,
       .group = run,
       .help = "in the end, write to stderr where the time went, kernel by kernel"},
      {.name = "quiet", .field = &O::quiet, .group = run, .help = "report only warnings and errors"},
  };
}

void check(ScoreOptions& o, const Given& given) {
  o.devices = {backend_name(o.devices, o.fast_math)};
  check_pair("train-sets", o.train_sets);
  require(o.n_best || !given.changed("n-best-feature"), "--n-best-feature {} is for --n-best, which is not given",
          o.n_best_feature);
  require(o.n_best_feature.find_first_of(" =|") == std::string::npos && !o.n_best_feature.empty(),
          "--n-best-feature: '{}' holds a blank, = or |, or nothing, expected a word", o.n_best_feature);
  if (o.summary == Summary::none) return;
  const std::string summary(name_of(o.summary));
  require(!o.n_best, "--n-best contradicts --summary {}, which prints one figure", summary);
  require(!o.word_scores, "--word-scores contradicts --summary {}, which prints one figure", summary);
  require(o.alignment.kind == AlignmentStyle::none, "--alignment contradicts --summary {}, which prints one figure",
          summary);
  if (o.normalize)
    throw Error(fmt::format("--normalize contradicts --summary {}, which is of whole log-probabilities", summary),
                "--summary ce-mean-words is the mean over target pieces");
}

}  // namespace

Table<ScoreOptions> score_table() {
  Table<ScoreOptions> table{
      .about = {.name = "score",
                .summary = "give the log-probability of translations",
                .usage = "-m MODEL -t SOURCE TARGET [OPTION...]",
                .text = "Prints the log-probability (base e) that the model gives to each target line for its source "
                        "line, a number a line."},
      .check = check};
  for (auto part : {file_flags, scoring_flags})
    for (auto& flag : part()) table.flags.push_back(std::move(flag));
  return table;
}

Table<AverageOptions> average_table() {
  using O = AverageOptions;
  return {.about = {.name = "average",
                    .summary = "average the weights of several models",
                    .usage = "-o OUT MODEL...",
                    .text = "Writes a model whose weights are the means of those given; they must be of one shape, as "
                            "the checkpoints of a run are."},
          .flags = {{.name = "output",
                     .letter = 'o',
                     .field = &O::output,
                     .value = "FILE",
                     .group = "Files",
                     .help = "the model to be written",
                     .required = true},
                    {.name = "models",
                     .letter = 'm',
                     .field = &O::models,
                     .value = "MODEL...",
                     .group = "Files",
                     .help = "the models to be averaged",
                     .required = true,
                     .positional = true}}};
}

}  // namespace dragoman
