#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "options/train_table.h"
#include "train/validation.h"

namespace dragoman {
namespace {

void warn_without_decay(const TrainOptions& o, const Given& given) {
  for (const char* option : {"lr-decay-strategy", "lr-decay-start", "lr-decay-freq", "lr-decay-reset-optimizer"})
    if (!o.decays() && given.changed(option)) log_warning("--{} has no effect without --lr-decay", option);
  if (o.decays() && o.decay_strategy != DecayStrategy::batches && given.changed("lr-decay-freq"))
    log_warning("--lr-decay-freq has no effect with --lr-decay-strategy {}: it is for batches",
                name_of(o.decay_strategy));
}

void warn_without_warmup(const TrainOptions& o) {
  if (o.warmup == 0 && o.warmup_start > 0) log_warning("--lr-warmup-start-rate has no effect with --lr-warmup 0");
}

// A run that resumes has the command line with which it made its vocabularies.
void warn_of_existing_vocabularies(const TrainOptions& o, const Given& given) {
  std::error_code unreadable;
  const auto exists = [&](const std::string& path) { return std::filesystem::exists(path, unreadable); };
  if (o.vocabs.empty() || !std::ranges::all_of(o.vocabs, exists) || (!o.no_reload && exists(o.model))) return;
  for (const char* option : {"vocab-type", "vocab-normalization", "sentencepiece-max-lines", "sentencepiece-options"})
    if (given.changed(option)) log_warning("--{} has no effect: {} exists", option, o.vocabs.front());
}

void warn_without_links(const TrainOptions& o, const Given& given) {
  if (!o.guided_alignment.empty()) return;
  for (const char* option : {"guided-alignment-weight", "transformer-guided-alignment-layer"})
    if (given.changed(option)) log_warning("--{} has no effect without --guided-alignment", option);
}

// A learning rate that falls when validation stalls counts the same validations.
void warn_without_stopping(const TrainOptions& o, const Given& given) {
  const bool decays_when_stalled =
      o.decays() && (o.decay_strategy == DecayStrategy::stalled || o.decay_strategy == DecayStrategy::epoch_stalled);
  if (o.valid_sets.empty() || o.early_stopping > 0 || decays_when_stalled) return;
  for (const char* option : {"early-stopping-on", "early-stopping-epsilon", "valid-reset-stalled"})
    if (given.changed(option) && (o.valid_freq.count > 0 || option == std::string_view("valid-reset-stalled")))
      log_warning("--{} has no effect with --early-stopping 0", option);
}

// SIGUSR2 still requests validations, and --valid-reset-stalled forgets those of an earlier call.
void warn_without_frequency(const TrainOptions& o, const Given& given) {
  if (o.valid_sets.empty() || o.valid_freq.count > 0) return;
  for (const char* option : {"early-stopping", "early-stopping-on", "early-stopping-epsilon"})
    if (given.turned_on(option)) log_warning("--{} has no effect with --valid-freq 0", option);
}

// They are about the translations; cross-entropy is that of all pairs.
void warn_without_translations(const TrainOptions& o, const Given& given) {
  if (o.valid_sets.empty() || std::ranges::any_of(o.valid_metrics, rises)) return;
  for (const char* option : {"beam-size", "normalize", "valid-max-lines"})
    if (given.changed(option))
      log_warning("--{} has no effect: none of --valid-metrics translates (bleu, chrf and translation do)", option);
}

void warn_without_shuffling(const TrainOptions& o, const Given& given) {
  if (o.no_shuffle && given.changed("maxi-batch"))
    log_warning("--maxi-batch has no effect with --no-shuffle, which keeps the order of the text");
}

void warn_of_unused_tokenizer(const TrainOptions& o) {
  if (!o.valid_sets.empty() && o.valid_tokenize != Tokenizer::thirteen_a &&
      std::ranges::count(o.valid_metrics, ValidMetric::bleu) == 0)
    log_warning("--valid-tokenize has no effect without --valid-metrics bleu");
}

void warn_without_validation(const TrainOptions& o, const Given& given) {
  if (!o.valid_sets.empty()) return;
  for (const char* option : {"early-stopping", "early-stopping-on", "early-stopping-epsilon", "valid-reset-stalled",
                             "valid-freq", "valid-metrics", "beam-size", "normalize", "valid-tokenize",
                             "valid-script-path", "valid-translation-output", "valid-max-lines", "valid-log"})
    if (given.changed(option)) log_warning("--{} has no effect without --valid-sets", option);
}

// Marian then keeps all checkpoints, which is its default, so that its configuration files say it.
void warn_of_checkpoints(const TrainOptions& o, const Given& given) {
  if (given("overwrite") && !o.overwrite && !given("keep-last"))
    log_warning("--overwrite false keeps no numbered checkpoints; --keep-last N keeps the last N");
}

}  // namespace

void warn_of_unused(const TrainOptions& o, const Given& given) {
  warn_without_validation(o, given);
  warn_without_frequency(o, given);
  warn_without_stopping(o, given);
  warn_without_decay(o, given);
  warn_without_warmup(o);
  warn_of_existing_vocabularies(o, given);
  warn_without_links(o, given);
  warn_without_translations(o, given);
  warn_of_unused_tokenizer(o);
  warn_without_shuffling(o, given);
  warn_of_checkpoints(o, given);
}

}  // namespace dragoman
