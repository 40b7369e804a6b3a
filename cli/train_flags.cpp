#include "cli/model_options.h"
#include "cli/train_table.h"

namespace dragoman {

using O = TrainOptions;

std::vector<Flag<O>> learning_rate_flags() {
  static constexpr auto group = "Learning rate";
  return {
      {.name = "learn-rate",
       .letter = 'l',
       .field = &O::learn_rate,
       .value = "RATE",
       .group = group,
       .help = "the highest learning rate; with the noam schedule the factor before its formula",
       .range = {0, 100}},
      {.name = "lr-warmup",
       .field = &O::warmup,
       .value = "N",
       .group = group,
       .help = "updates in which the learning rate rises from 0; 4000u is the same as 4000",
       .range = {0, 1e9},
       .unit = "u"},
      {.name = "lr-schedule",
       .field = &O::schedule,
       .value = "NAME",
       .group = group,
       .help = "the learning rate after --lr-warmup; cosine and linear end at zero at --lr-decay-updates"},
      {.name = "lr-decay-inv-sqrt",
       .field = &O::decay_from,
       .value = "N",
       .group = group,
       .help = "inverse-sqrt: the rate is --learn-rate times the root of N / update; 0: N is --lr-warmup",
       .range = {0, 1e9},
       .unit = "u"},
      {.name = "lr-decay-updates",
       .field = &O::decay_updates,
       .value = "N",
       .group = group,
       .help = "cosine and linear: the update at which the rate is zero",
       .range = {0, 1e9},
       .unit = "u"},
  };
}

std::vector<Flag<O>> optimizer_flags() {
  static constexpr auto group = "Optimizer";
  return {
      {.name = "optimizer-params",
       .field = &O::optimizer_params,
       .value = "B1 B2 EPS",
       .group = group,
       .help = "Adam's two decay rates and its epsilon",
       .range = {0, 1}},
      {.name = "weight-decay",
       .field = &O::weight_decay,
       .value = "X",
       .group = group,
       .help = "decoupled weight decay: each update takes rate times X of every weight away",
       .range = {0, 10}},
      {.name = "clip-norm",
       .field = &O::clip_norm,
       .value = "X",
       .group = group,
       .help = "scale gradients down to this norm; 0: never",
       .range = {0, 1e9}},
      {.name = "freeze",
       .field = &O::freeze,
       .value = "PATTERN...",
       .group = group,
       .help = "leave parameters as they are whose names match, such as 'encoder.*' (* is anything, ? a letter)"},
      {.name = "exponential-smoothing",
       .field = &O::exponential_smoothing,
       .value = "X",
       .group = group,
       .help = "keep a running average of the weights, to which each update adds X of the new ones; the model file and "
               "validation have the average; 0: off; alone: 1e-4",
       .range = {0, 1},
       .implicit = "1e-4"},
  };
}

std::vector<Flag<O>> validation_flags() {
  static constexpr auto group = "Validation";
  return {
      {.name = "valid-sets",
       .field = &O::valid_sets,
       .value = "SOURCE TARGET",
       .group = group,
       .help = "validation text"},
      {.name = "valid-metrics",
       .field = &O::valid_metrics,
       .value = "NAME...",
       .group = group,
       .help =
           "what to measure, the first one decides --early-stopping; bleu, chrf and translation translate, the last "
           "asks --valid-script-path"},
      {.name = "valid-freq",
       .field = &O::valid_freq,
       .value = "N[u|e|t|m]",
       .group = group,
       .help = "validate every so many updates (u), epochs (e), target tokens (t) or minutes (m); 0: never"},
      {.name = "early-stopping",
       .field = &O::early_stopping,
       .value = "N",
       .group = group,
       .help = "end after N validations in a row without a better figure; 0: never",
       .range = {0, 1'000'000}},
      {.name = "beam-size",
       .letter = 'b',
       .field = &O::valid_beam_size,
       .value = "N",
       .group = group,
       .help = "beam of validation by bleu and chrf (Marian: 12)",
       .range = {1, 1024}},
      {.name = "normalize",
       .letter = 'n',
       .field = &O::valid_normalize,
       .value = "A",
       .group = group,
       .help = "there, scores are divided by length to the power A; 0: not (Marian: 0); alone: 1",
       .range = {0, 10},
       .implicit = "1"},
      {.name = "valid-script-path",
       .field = &O::valid_script_path,
       .value = "COMMAND",
       .group = group,
       .help = "translation is the first number that this program prints; it gets a file of translations"},
      {.name = "valid-script-args",
       .field = &O::valid_script_args,
       .value = "WORD...",
       .group = group,
       .help = "further arguments for it, before the file"},
      {.name = "valid-translation-output",
       .field = &O::valid_translation_output,
       .value = "FILE",
       .group = group,
       .help = "keep the translations; in the name, {U} stands for the update, {E} for the epoch, {B} for batches of "
               "the epoch, {T} for target tokens"},
      {.name = "valid-max-lines",
       .field = &O::valid_max_lines,
       .value = "N",
       .group = group,
       .help = "translate only the first N lines; 0: all",
       .range = {0, 1e9}},
  };
}

std::vector<Flag<O>> run_flags() {
  static constexpr auto group = "Run";
  return {
      {.name = "after",
       .letter = 'a',
       .field = &O::after,
       .value = "N[u|e|t|m]",
       .group = group,
       .help =
           "end after so many updates (u), epochs (e), target tokens (t, 20Mt) or minutes (m); of several, 10e,2Gt, "
           "the first one reached counts; without it only --early-stopping ends a run"},
      {.name = "save-freq",
       .field = &O::save_freq,
       .value = "N[u|e|t|m]",
       .group = group,
       .help = "save model and training state every so often; 0: only at the end"},
      {.name = "disp-freq",
       .field = &O::disp_freq,
       .value = "N[u|e|t|m]",
       .group = group,
       .help = "report progress every so often; 0: never"},
      {.name = "dry-run",
       .field = &O::dry_run,
       .group = group,
       .help = "check options, files, memory and disk, report on text, model and time, and end; writes nothing"},
      {.name = "log-json",
       .field = &O::log_json,
       .value = "FILE",
       .group = group,
       .help = "append a JSON object a line for the start, each report, validation and save, and the end"},
      {.name = "tensorboard",
       .field = &O::tensorboard,
       .value = "FOLDER",
       .group = group,
       .help = "write event files for TensorBoard there"},
      {.name = "precision",
       .field = &O::precision,
       .value = "TYPE",
       .group = group,
       .help = "what products multiply: float32, or numbers rounded to bfloat16, up to twice as fast on CPUs that have "
               "instructions for it; float16, for GPUs that have no bfloat16; weights, sums and all else stay float32; "
               "fastest: bfloat16 where there are instructions for it, else float32; auto: that on a GPU, float32 on a "
               "CPU"},
      {.name = "max-skipped",
       .field = &O::max_skipped,
       .value = "N",
       .group = group,
       .help =
           "when N updates in a row were skipped, as loss or gradient is not finite, go back to the last checkpoint "
           "with half the learning rate; the second time the run ends; 0: skip on",
       .range = {0, 1e9}},
      {.name = "check-nan",
       .field = &O::check_nan,
       .group = group,
       .help = "look in every update for the first value that is not finite, to name it when one is skipped; slow"},
      {.name = "seed",
       .field = &O::seed,
       .value = "N",
       .group = group,
       .help = "of initial weights, shuffling, dropout and sampling; the same seed gives the same model"},
      {.name = "cpu-threads",
       .field = &O::cpu_threads,
       .value = "N",
       .group = group,
       .help = "threads; 0: one a core",
       .range = {0, 1024}},
      {.name = "devices",
       .letter = 'd',
       .field = &O::devices,
       .value = "DEVICE...",
       .group = group,
       .help = "where to compute: cpu, or the number of a GPU, counted from 0"},
      {.name = "fast-math",
       .field = &O::fast_math,
       .group = group,
       .help = "on a GPU, products of float32 see 10 bits behind the point (TF32) instead of 23: faster"},
      {.name = "profile",
       .field = &O::profile,
       .group = group,
       .help = "in the end, write to stderr where the time went, kernel by kernel"},
      {.name = "quiet", .field = &O::quiet, .group = group, .help = "report only warnings and errors"},
  };
}

Table<O> train_table() {
  Table<O> table{.about = {.name = "train",
                           .summary = "train a model on parallel text",
                           .usage = "-t SOURCE TARGET -v VOCAB VOCAB -m MODEL [OPTION...]",
                           .text = "Trains a translation model from two text files that pair line by line. The same "
                                   "call again goes on where the last one stopped."},
                 .check = check_train,
                 .preset_flag = "task",
                 .preset = apply_task,
                 .inherit = inherit_model};
  for (auto part : {file_flags, vocabulary_flags, model_flags, transformer_flags, position_flags, attention_flags,
                    autoregression_flags, experts_flags, rnn_flags, dropout_flags, batch_flags, learning_rate_flags,
                    optimizer_flags, validation_flags, run_flags})
    for (auto& flag : part()) table.flags.push_back(std::move(flag));
  return table;
}

}  // namespace dragoman
