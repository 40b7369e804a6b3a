#include "cli/marian.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman {
namespace {

constexpr std::string_view one_device = "a process computes on the CPU, or on one GPU: --devices; leave it out";
constexpr std::string_view memory = "memory is taken as it is needed; leave it out";
constexpr std::string_view batches = "batches are as large as --mini-batch-words says; leave it out";
constexpr std::string_view sorted = "sentences are always sorted by length; leave it out";
constexpr std::string_view no_files = "shuffling writes no temporary files; leave it out";
constexpr std::string_view in_model = "the model file holds it; leave it out";
constexpr std::string_view not_finite = "updates that are not finite are always skipped: --max-skipped; leave it out";
constexpr std::string_view one_cell =
    "a step of a recurrent model (--type s2s) is one cell in each layer; leave it out";
constexpr std::string_view average_attention =
    "average attention has one feed-forward layer, of two matrices; leave it out";
constexpr std::string_view standard_layer = "layers are those of the paper; leave it out";
constexpr std::string_view guided = "attention cannot be guided by alignments; leave it out";
constexpr std::string_view schedule = "--lr-schedule says how the rate falls: inverse-sqrt, noam, cosine, linear";
constexpr std::string_view warmup = "--lr-warmup rises from 0, once; leave it out";
constexpr std::string_view fixed = "--freeze 'PATTERN' leaves parameters as they are";
constexpr std::string_view no_vectors =
    "there are no vectors from outside; --pretrained-model begins with a whole model";
constexpr std::string_view word_dropout = "there is no dropout of words; --transformer-dropout-embedding is near";
constexpr std::string_view factors = "there are no factors";
constexpr std::string_view log_file = "messages go to stderr: 2> FILE; --log-json writes a log for programs";
constexpr std::string_view quantize = "dragoman quantize makes a model in 8 bits, which translate then uses";
constexpr std::string_view in_translate =
    "an option of translate; validation searches with --beam-size and --normalize";
constexpr std::string_view spm = "dragoman vocab train has the options of learning vocabularies";
constexpr std::string_view augment = "write such lines into the training text";
constexpr std::string_view paths = "names in files are as seen from where the command runs; leave it out";

// By name. Marian has more, for experiments; for those there is "there is no option".
constexpr LeftOut table[] = {
    {"after-batches", "--after 8000u ends a run after 8,000 updates"},
    {"after-epochs", "--after 10e ends a run after ten epochs"},
    {"all-caps-every", augment},
    {"allow-special", "a translation never holds a line break; leave it out"},
    {"best-deep", "--enc-depth and --dec-depth say how deep a recurrent model is; leave it out"},
    {"check-gradient-nan", not_finite},
    {"clip-gemm", "products are never clipped; leave it out"},
    {"cost-scaling", "--precision float16 scales losses by itself; leave it out"},
    {"cost-type", "training minimises cross-entropy a target piece; leave it out"},
    {"dec-cell-base-depth", one_cell},
    {"dec-cell-high-depth", one_cell},
    {"disp-first", "--disp-freq 1u reports every update"},
    {"disp-label-counts", "reports count target pieces; leave it out"},
    {"dropout-src", word_dropout},
    {"dropout-trg", word_dropout},
    {"dynamic-gradient-scaling", "--clip-norm bounds the gradient"},
    {"e", "--after 10e ends a run after ten epochs"},
    {"early-stopping-on", "the first of --valid-metrics decides --early-stopping"},
    {"embedding-fix-src", fixed},
    {"embedding-fix-trg", fixed},
    {"embedding-normalization", no_vectors},
    {"embedding-vectors", no_vectors},
    {"enc-cell-depth", one_cell},
    {"english-title-case-every", augment},
    {"factor-weight", factors},
    {"factors-combine", factors},
    {"factors-dim-emb", factors},
    {"fp16", "--precision float16 on a GPU; on a CPU --precision bfloat16"},
    {"g", quantize},
    {"gemm-type", quantize},
    {"gradient-checkpointing", "not needed: a batch goes forward and back in parts, so that its size costs no memory"},
    {"gradient-norm-average-window", "--clip-norm bounds the gradient"},
    {"guided-alignment", guided},
    {"guided-alignment-cost", guided},
    {"guided-alignment-weight", guided},
    {"ignore-model-config", in_model},
    {"input-types", "sides are source and target; --tsv reads both from one file"},
    {"interpolate-env-vars", paths},
    {"lemma-dim-emb", factors},
    {"log", log_file},
    {"log-level", "--quiet leaves warnings and errors only"},
    {"log-time-zone", "times are those of the machine: TZ=… dragoman; leave it out"},
    {"logical-epoch", "--valid-freq, --save-freq and --after count updates, epochs or target tokens as you like"},
    {"lr-decay", schedule},
    {"lr-decay-freq", schedule},
    {"lr-decay-repeat-warmup", schedule},
    {"lr-decay-reset-optimizer", schedule},
    {"lr-decay-start", schedule},
    {"lr-decay-strategy", schedule},
    {"lr-report", "reports always have the learning rate; leave it out"},
    {"lr-warmup-at-reload", warmup},
    {"lr-warmup-cycle", warmup},
    {"lr-warmup-start-rate", warmup},
    {"max-length-crop", "longer pairs are left out and counted, longer lines translated in parts; leave it out"},
    {"maxi-batch", "translate and score put sentences together by --mini-batch-words; leave it out"},
    {"maxi-batch-sort", sorted},
    {"mini-batch", "translate and score put sentences together by --mini-batch-words; leave it out"},
    {"mini-batch-fit-step", batches},
    {"mini-batch-round-up", batches},
    {"mini-batch-track-lr", batches},
    {"mini-batch-warmup", batches},
    {"mini-batch-words-ref", "give the rate for the batch that you train with; leave it out"},
    {"model-mmap", "model files are always mapped; leave it out"},
    {"multi-loss-type", "there is one loss; leave it out"},
    {"no-nccl", one_device},
    {"no-spm-decode", "translations are text; dragoman vocab encode splits them into pieces"},
    {"normalize-gradient", "gradients are always means over target pieces; leave it out"},
    {"num-devices", one_device},
    {"optimize", quantize},
    {"optimizer", "the optimizer is adam; leave it out"},
    {"output-approx-knn", "--shortlist has translate look at likely pieces only"},
    {"output-omit-bias", standard_layer},
    {"quantize-biases", quantize},
    {"quantize-bits", quantize},
    {"quantize-log-based", quantize},
    {"quantize-optimization-steps", quantize},
    {"quantize-range", quantize},
    {"quiet-translation", "validation logs no translations: --valid-translation-output keeps them; leave it out"},
    {"relative-paths", paths},
    {"right-left", "turn the words of the target text round: awk, perl"},
    {"sentencepiece-max-lines", spm},
    {"sentencepiece-options", spm},
    {"sharding", one_device},
    {"shuffle", "--no-shuffle keeps the order of the text"},
    {"shuffle-in-ram", no_files},
    {"skip", "recurrent layers have no connections around them; leave it out"},
    {"skip-cost", "the scores of a search are the model's; leave it out"},
    {"sqlite", no_files},
    {"sqlite-drop", no_files},
    {"stat-freq", "translate says how fast it is on a terminal; leave it out"},
    {"sync-freq", one_device},
    {"sync-sgd", "updates are always synchronous; leave it out"},
    {"transformer-aan-depth", average_attention},
    {"transformer-ffn-depth", standard_layer},
    {"transformer-guided-alignment-layer", guided},
    {"transformer-no-projection", standard_layer},
    {"transformer-postprocess-emb", "embeddings have dropout, --transformer-dropout-embedding; leave it out"},
    {"transformer-postprocess-top", "pre-norm ends in a norm, post-norm needs none; leave it out"},
    {"transformer-tied-layers", "every layer has weights of its own; leave it out"},
    {"tsv-fields", "--tsv has two fields, source and target; leave it out"},
    {"unlikelihood-loss", "training minimises cross-entropy a target piece; leave it out"},
    {"v", in_model},
    {"valid-log", log_file},
    {"valid-max-length", "validation takes sentences up to --max-length pieces; leave it out"},
    {"valid-mini-batch", "validation chooses its batches itself; leave it out"},
    {"valid-reset-stalled", "raise --early-stopping to go on after it has ended a run"},
    {"version", "a configuration file of Marian has it; leave it out"},
    {"vocabs", in_model},
    {"w", memory},
    {"word-penalty", in_translate},
    {"workspace", memory},
};

}  // namespace

std::span<const LeftOut> left_out_of_marian() { return table; }

const LeftOut* left_out(std::string_view option) {
  const auto found = std::ranges::find(table, option, &LeftOut::option);
  return found == std::end(table) ? nullptr : &*found;
}

std::string advice_on(const std::vector<const LeftOut*>& options, std::string_view prefix) {
  if (options.size() == 1) return std::string(options[0]->instead);
  std::string lines = "Marian's options that are none here:";
  for (const LeftOut* o : options)
    lines += fmt::format("\n    {}{}: {}", o->option.size() == 1 ? prefix.substr(0, 1) : prefix, o->option, o->instead);
  return lines;
}

}  // namespace dragoman
