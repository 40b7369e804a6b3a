#include "base/error.h"
#include "cli/tables.h"

namespace dragoman {

Table<ScoreOptions> score_table() {
  using O = ScoreOptions;
  static constexpr auto files = "Files", scoring = "Scoring", run = "Run";
  return {
      .about = {.name = "score",
                .summary = "give the log-probability of translations",
                .usage = "-m MODEL -t SOURCE TARGET [OPTION...]",
                .text = "Prints the log-probability (base e) that the model gives to each target line for its source "
                        "line, a number a line."},
      .flags =
          {
              {.name = "model",
               .letter = 'm',
               .field = &O::model,
               .value = "FILE",
               .group = files,
               .help = "the model; it holds its vocabularies",
               .required = true},
              {.name = "train-sets",
               .letter = 't',
               .field = &O::train_sets,
               .value = "SOURCE TARGET",
               .group = files,
               .help = "the text to be scored",
               .required = true},
              {.name = "output",
               .letter = 'o',
               .field = &O::output,
               .value = "FILE",
               .group = files,
               .help = "scores; - is stdout"},
              {.name = "no-spm-encode",
               .field = &O::no_spm_encode,
               .group = files,
               .help = "the text is already pieces, separated by blanks"},
              {.name = "summary",
               .field = &O::summary,
               .value = "KIND",
               .group = scoring,
               .help =
                   "print one figure for all pairs instead: cross-entropy is the negative log-probability a sentence "
                   "(so is ce-mean), ce-mean-words that a target piece, perplexity its exponential; alone: "
                   "cross-entropy",
               .implicit = "cross-entropy"},
              {.name = "normalize",
               .letter = 'n',
               .field = &O::normalize,
               .group = scoring,
               .help = "divide each log-probability by the pieces of the target, end of sentence included"},
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
              {.name = "cpu-threads",
               .field = &O::cpu_threads,
               .value = "N",
               .group = run,
               .help = "threads; 0: one a core",
               .range = {0, 1024}},
              {.name = "quiet", .field = &O::quiet, .group = run, .help = "report only warnings and errors"},
          },
      .check = [](O& o, const Given&) { check_pair("train-sets", o.train_sets); }};
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
