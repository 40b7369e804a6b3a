#include "cli/train_table.h"

namespace dragoman {

using O = TrainOptions;

std::vector<Flag<O>> file_flags() {
  return {
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = "Files",
       .help = "the model to be made, model.safetensors; a run that was stopped goes on from it",
       .required = true},
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET",
       .group = "Files",
       .help = "training text, a sentence a line; .gz, .xz and .zst are read as they are",
       .required = true},
      {.name = "vocabs",
       .letter = 'v',
       .field = &O::vocabs,
       .value = "SOURCE TARGET",
       .group = "Files",
       .help = "SentencePiece vocabularies, made from --train-sets when missing; the same name twice: a joint one",
       .required = true},
      {.name = "overwrite",
       .field = &O::overwrite,
       .group = "Files",
       .help = "keep no numbered checkpoints, only the model itself; so it is unless --keep-last says otherwise"},
      {.name = "no-reload",
       .field = &O::no_reload,
       .group = "Files",
       .help = "begin anew although the model file exists, and write over it"},
      {.name = "keep-last",
       .field = &O::keep_last,
       .value = "N",
       .group = "Files",
       .help = "keep the last N checkpoints beside the model, for averaging",
       .range = {0, 10000}},
      {.name = "keep-best",
       .field = &O::keep_best,
       .group = "Files",
       .help = "keep the best model of each of --valid-metrics beside the model"},
  };
}

std::vector<Flag<O>> vocabulary_flags() {
  return {
      {.name = "dim-vocabs",
       .field = &O::dim_vocabs,
       .value = "N...",
       .group = "Vocabulary",
       .help = "pieces of a vocabulary that has to be made: one number for both sides, or one each",
       .range = {16, 1'000'000}},
      {.name = "vocab-type",
       .field = &O::vocabulary_type,
       .value = "TYPE",
       .group = "Vocabulary",
       .help = "how a vocabulary that has to be made is learned"},
      {.name = "vocab-normalization",
       .field = &O::normalization,
       .value = "RULE",
       .group = "Vocabulary",
       .help =
           "SentencePiece's normalization in a vocabulary that has to be made: nmt_nfkc, nmt_nfkc_cf, nfkc, nfkc_cf "
           "or identity"},
      {.name = "sentencepiece-alphas",
       .field = &O::sentencepiece_alphas,
       .value = "A...",
       .group = "Vocabulary",
       .help = "sample segmentations while training (unigram: 0.1 is usual; bpe: dropout of merges), for both sides or "
               "one number each; 0 is off",
       .range = {0, 10}},
      {.name = "no-spm-encode",
       .field = &O::no_spm_encode,
       .group = "Vocabulary",
       .help = "the text is already pieces, separated by blanks"},
  };
}

std::vector<Flag<O>> batch_flags() {
  static constexpr auto group = "Batches";
  return {
      {.name = "mini-batch-words",
       .field = &O::mini_batch_words,
       .value = "N",
       .group = group,
       .help = "target pieces in a batch, ends of sentences included; 0: no limit (Marian counts source pieces)",
       .range = {0, 10'000'000}},
      {.name = "mini-batch",
       .field = &O::mini_batch,
       .value = "N",
       .group = group,
       .help = "sentences in a batch; 0: no limit (Marian: 64)",
       .range = {0, 1'000'000}},
      {.name = "maxi-batch",
       .field = &O::maxi_batch,
       .value = "N",
       .group = group,
       .help = "batches whose sentences are sorted by length together",
       .range = {1, 1'000'000}},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = group,
       .help = "pieces of the longest sentence; a pair with a longer side is left out and counted (Marian: 50)",
       .range = {1, 100'000}},
      {.name = "optimizer-delay",
       .field = &O::optimizer_delay,
       .value = "N",
       .group = group,
       .help = "batches whose gradients are added up for one update",
       .range = {1, 10'000}},
      {.name = "no-shuffle",
       .field = &O::no_shuffle,
       .group = group,
       .help = "keep the order of the corpus in every epoch"},
  };
}

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
       .help = "what to measure, the first one decides --early-stopping; bleu and chrf translate"},
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
                 .preset = apply_task};
  for (auto part : {file_flags, vocabulary_flags, model_flags, transformer_flags, position_flags, dropout_flags,
                    batch_flags, learning_rate_flags, optimizer_flags, validation_flags, run_flags})
    for (auto& flag : part()) table.flags.push_back(std::move(flag));
  return table;
}

}  // namespace dragoman
