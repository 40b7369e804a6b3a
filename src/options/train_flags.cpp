#include <algorithm>

#include "metrics/tokenize.h"
#include "options/flags.h"
#include "options/model_options.h"
#include "options/shared_flags.h"
#include "options/table_files.h"
#include "options/train_table.h"
#include "train/run_files.h"

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
       .help = "peak learning rate; with the noam schedule, the factor of its formula",
       .range = {0, 100}},
      {.name = "lr-warmup",
       .field = &O::warmup,
       .value = "N",
       .group = group,
       .help = "updates over which the learning rate rises from 0; 4000u is the same as 4000",
       .range = {0, 1e9},
       .unit = "u"},
      {.name = "lr-warmup-start-rate",
       .field = &O::warmup_start,
       .value = "RATE",
       .group = group,
       .help = "--lr-warmup begins with this learning rate instead of 0; not with the noam schedule",
       .range = {0, 100}},
      {.name = "lr-schedule",
       .field = &O::schedule,
       .value = "NAME",
       .group = group,
       .help = "learning rate after --lr-warmup; cosine and linear reach zero at --lr-decay-updates"},
      {.name = "lr-decay-inv-sqrt",
       .field = &O::decay_from,
       .value = "N",
       .group = group,
       .help = "inverse-sqrt: the rate is --learn-rate * sqrt(N / update); 0: N is --lr-warmup, and if that is 0 too, "
               "the rate is constant",
       .range = {0, 1e9},
       .unit = "u"},
      {.name = "lr-decay-updates",
       .field = &O::decay_updates,
       .value = "N",
       .group = group,
       .help = "cosine and linear: update at which the rate reaches zero",
       .range = {0, 1e9},
       .unit = "u"},
      {.name = "lr-decay",
       .field = &O::rate_decay,
       .value = "X",
       .group = group,
       .help = "multiply the learning rate by X at each of the points that --lr-decay-strategy sets, in addition to "
               "--lr-schedule; 0 or 1: never",
       .range = {0, 1}},
      {.name = "lr-decay-strategy",
       .field = &O::decay_strategy,
       .value = "NAME",
       .group = group,
       .help = "with --lr-decay-start N, stalled: on a plateau, after every N validations in a row without "
               "improvement; batches: after "
               "N updates, and then every --lr-decay-freq; epoch: at the beginning of each epoch from epoch N; with N "
               "M, epoch+batches and epoch+stalled: also of earlier epochs, once M updates, or M validations in a row "
               "without improvement, have been made"},
      {.name = "lr-decay-start",
       .field = &O::decay_start,
       .value = "N [M]",
       .group = group,
       .help = "one number, or for epoch+batches and epoch+stalled two; 0: never",
       .range = {0, 1e9}},
      {.name = "lr-decay-freq",
       .field = &O::decay_freq,
       .value = "N",
       .group = group,
       .help = "updates between decays of --lr-decay-strategy batches",
       .range = {1, 1e9},
       .unit = "u"},
      {.name = "lr-decay-reset-optimizer",
       .field = &O::decay_resets_optimizer,
       .group = group,
       .help = "each decay also resets Adam's moments"},
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
       .help = "decoupled weight decay: each update subtracts learning rate * X * weight from every weight",
       .range = {0, 10}},
      {.name = "clip-norm",
       .field = &O::clip_norm,
       .value = "X",
       .group = group,
       .help = "clip the norm of the gradient to X; 0: off",
       .range = {0, 1e9}},
      {.name = "freeze",
       .field = &O::freeze,
       .value = "PATTERN...",
       .group = group,
       .help = "do not train parameters whose names match, such as 'encoder.*' (* matches anything, ? one letter)"},
      {.name = "lora-rank",
       .field = &O::lora_rank,
       .value = "N",
       .group = group,
       .help = "LoRA for fine-tuning: train only updates of rank N, of the weights of all linear layers; 0: off",
       .range = {0, 65536}},
      {.name = "exponential-smoothing",
       .field = &O::exponential_smoothing,
       .value = "X",
       .group = group,
       .help =
           "keep an exponential moving average (EMA) of the weights, in which new weights count X; the model file and "
           "validation use the average; 0: off; without a value: 1e-4",
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
       .help = "metrics to compute; the first decides --early-stopping (see --early-stopping-on); bleu, chrf and "
               "translation, which --valid-script-path computes, translate the text"},
      {.name = "valid-freq",
       .field = &O::valid_freq,
       .value = "N[u|e|t|m]",
       .group = group,
       .help = "validate every N updates (u), epochs (e), target tokens (t) or minutes (m); 0: never"},
      {.name = "early-stopping",
       .field = &O::early_stopping,
       .value = "N",
       .group = group,
       .help = "stop after N validations in a row without improvement; 0: never",
       .range = {0, 1'000'000}},
      {.name = "early-stopping-on",
       .field = &O::early_stopping_on,
       .value = "NAME",
       .group = group,
       .help = "metric whose validations without improvement count for --early-stopping and --lr-decay: the first; "
               "any: the one with the most; all: the one with the fewest, so that all have stalled"},
      {.name = "early-stopping-epsilon",
       .field = &O::early_stopping_epsilon,
       .value = "X...",
       .group = group,
       .help = "an improvement counts if it is larger than X: one number, or one for each of --valid-metrics",
       .range = {0, 1e9}},
      {.name = "valid-reset-stalled",
       .field = &O::valid_reset_stalled,
       .group = group,
       .help = "on resuming, forget how many validations were without improvement: a run that --early-stopping has "
               "ended continues"},
      {.name = "beam-size",
       .letter = 'b',
       .field = &O::valid_beam_size,
       .value = "N",
       .group = group,
       .help = "beam size for translating the validation text (Marian: 12)",
       .range = {1, 1024}},
      {.name = "normalize",
       .letter = 'n',
       .field = &O::valid_normalize,
       .value = "A",
       .group = group,
       .help = "in validation, divide scores by length to the power A; 0: off (Marian: 0); without a value: 1",
       .range = {0, 10},
       .implicit = "1"},
      {.name = "valid-tokenize",
       .field = &O::valid_tokenize,
       .value = "NAME",
       .group = group,
       .help = "tokenizer for BLEU in validation, as evaluate --tokenize: zh for Chinese, char for Japanese, Thai and "
               "other languages without spaces, none for text that is already tokenised",
       .choices = tokenizers_without_model},
      {.name = "valid-script-path",
       .field = &O::valid_script_path,
       .value = "COMMAND",
       .group = group,
       .help = "program that computes the translation metric: its last argument is a file of translations; the "
               "first number on its stdout that is not part of a word is the value",
       .files = FileWords::existing},
      {.name = "valid-script-args",
       .field = &O::valid_script_args,
       .value = "WORD...",
       .group = group,
       .help = "further arguments of --valid-script-path, before the file",
       .files = FileWords::existing},
      {.name = "valid-translation-output",
       .field = &O::valid_translation_output,
       .value = "FILE",
       .group = group,
       .help = "save the translations to this file; in its name, {U} is the update, {E} the epoch, {B} the batches of "
               "the epoch, {T} the target tokens",
       .use = FileUse::written},
      {.name = "valid-max-lines",
       .field = &O::valid_max_lines,
       .value = "N",
       .group = group,
       .help = "translate only the first N lines of --valid-sets; 0: all",
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
       .help = "stop after N updates (u or no letter), epochs (e), target tokens (t, as in 20Mt) or minutes (m), or at "
               "the first "
               "of several limits, as in 10e,2Gt; 0: no limit; without this option, only --early-stopping ends a run"},
      {.name = "save-freq",
       .field = &O::save_freq,
       .value = "N[u|e|t|m]",
       .group = group,
       .help = "save the model and the training state at this interval; 0: only at the end"},
      {.name = "disp-freq",
       .field = &O::disp_freq,
       .value = "N[u|e|t|m]",
       .group = group,
       .help = "report progress at this interval; 0: never"},
      {.name = "dry-run",
       .field = &O::dry_run,
       .group = group,
       .help =
           "check options, files, memory and disk, report on text, model and time, and exit without writing anything",
       .owner = Owner::command},
      {.name = "log",
       .field = &O::log,
       .value = "FILE",
       .group = group,
       .help = "also append all messages to this file, even with --quiet",
       .use = FileUse::written},
      {.name = "valid-log",
       .field = &O::valid_log,
       .value = "FILE",
       .group = group,
       .help = "append the validation results to this file",
       .use = FileUse::written},
      {.name = "log-json",
       .field = &O::log_json,
       .value = "FILE",
       .group = group,
       .help = "append one JSON object per line for the start, each report, validation and save, and the end",
       .use = FileUse::written},
      {.name = "tensorboard",
       .field = &O::tensorboard,
       .value = "FOLDER",
       .group = group,
       .help = "write event files for TensorBoard to this folder",
       .use = FileUse::written},
      {.name = "precision",
       .field = &O::precision,
       .value = "TYPE",
       .group = group,
       .help = "number type of the inputs of matrix products (mixed precision); weights, sums and everything else stay "
               "float32; bfloat16: up "
               "to twice as fast on CPUs with instructions for it; float16 (fp16): for GPUs without bfloat16; fastest: "
               "bfloat16 "
               "if there are instructions for it, else float32; auto: on a GPU fastest, for Transformers with "
               "--half-activations, on a CPU float32"},
      {.name = "half-activations",
       .field = &O::half_activations,
       .group = group,
       .help = "with 16-bit --precision, keep activations between products and their gradients in that type too, which "
               "halves their memory and memory traffic; meant for GPUs; sums, norms' statistics, weights and the "
               "residual stream of pre-norm models stay float32; not for recurrent models"},
      {.name = "max-skipped",
       .field = &O::max_skipped,
       .value = "N",
       .group = group,
       .help = "after N skipped updates in a row (loss or gradient not finite), roll back to the last checkpoint and "
               "halve the learning rate; the second time, stop; 0: keep skipping",
       .range = {0, 1e9}},
      {.name = "check-nan",
       .field = &O::check_nan,
       .group = group,
       .help = "find the first non-finite value of each update, to report it if the update is skipped; slow"},
      {.name = "seed",
       .field = &O::seed,
       .value = "N",
       .group = group,
       .help = "random seed of initial weights, shuffling, dropout and sampling; the same seed gives the same model"},
      {.name = "gradient-shards",
       .field = &O::gradient_shards,
       .value = "N",
       .group = group,
       .help = "split each update into N shards, a power of two, and sum their gradients in a fixed order, so that the "
               "model depends neither on the number of processes nor on the number of threads; 0: 1 for one process, "
               "else 8 or more",
       .range = {0, most_gradient_shards}},
      {.name = "no-nccl",
       .field = &O::no_nccl,
       .group = group,
       .help = "exchange gradients of several GPUs through host memory even if NCCL is installed"},
  };
}

namespace {

// Messages name files that are given before names with placeholders, and --model before the files beside it.
void add_files_of_run(const O& o, CommandFiles& files) {
  std::ranges::stable_partition(files.written,
                                [](const NamedFiles& named) { return named.files[0].find('{') == std::string::npos; });
  std::vector<NamedFiles> beside;
  for (const RunFile& file : files_beside_model(o)) beside.push_back({file.what, {file.path}});
  const auto model = std::ranges::find(files.written, "--model", &NamedFiles::what);
  files.written.insert(model + 1, beside.begin(), beside.end());
}

}  // namespace

Table<O> train_table() {
  return {.about = {.name = "train",
                    .summary = "train a model on parallel text",
                    .usage = "-t SOURCE TARGET -v VOCAB VOCAB -m MODEL [OPTION...]",
                    .text = "Trains a translation model on two text files aligned line by line. The same "
                            "command run again resumes where it stopped.",
                    .stray = "text is read directly, not from a folder of prepared data: --train-sets names its files"},
          .flags = joined(file_flags(), vocabulary_flags(), model_flags(), transformer_flags(), position_flags(),
                          attention_flags(), autoregression_flags(), experts_flags(), rnn_flags(), dropout_flags(),
                          batch_flags(), learning_rate_flags(), optimizer_flags(), validation_flags(), run_flags(),
                          shared_work_flags<O>("Run")),
          .check = check_train,
          .preset_flag = "task",
          .preset = apply_task,
          .inherit = inherit_model,
          .essentials = {"model",
                         "train-sets",
                         "vocabs",
                         "valid-sets",
                         "task",
                         "type",
                         "enc-depth",
                         "dec-depth",
                         "dim-emb",
                         "transformer-dim-ffn",
                         "transformer-dropout",
                         "label-smoothing",
                         "mini-batch-words",
                         "optimizer-delay",
                         "max-length",
                         "learn-rate",
                         "lr-warmup",
                         "valid-metrics",
                         "valid-freq",
                         "early-stopping",
                         "keep-best",
                         "after",
                         "dry-run",
                         "devices",
                         "cpu-threads"},
          .files = add_files_of_run};
}

}  // namespace dragoman
