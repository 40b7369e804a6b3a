#include "train/validation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/fingerprint.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "base/words.h"
#include "comm/agreement.h"
#include "data/id_pairs.h"
#include "data/pairs.h"
#include "data/unknown_tokens.h"
#include "decode/translator.h"
#include "dragoman/run_control.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "vocab/model_facts.h"

namespace dragoman {
namespace {

constexpr int64_t usual_batch_words = 4096;  // if training has no limit

std::vector<int32_t> encoded(const Vocabulary& vocabulary, const std::string& line, const TrainingSetup& setup) {
  return setup.data.no_spm_encode ? vocabulary.encode_given_pieces(line) : vocabulary.encode(line);
}

std::string_view bytes_of(const std::vector<int32_t>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t)};
}

// The consecutive elements that this rank processes.
template <class T>
std::span<const T> share_of(const std::vector<T>& all, const Communicator& ranks) {
  const size_t n = all.size(), r = size_t(ranks.rank()), R = size_t(ranks.size());
  return std::span(all).subspan(n * r / R, n * (r + 1) / R - n * r / R);
}

// Concatenates the results of all ranks in order, on rank 0.
std::vector<double> gathered(const std::vector<double>& own, Communicator& ranks) {
  std::vector<double> all;
  for (const std::string& bytes :
       ranks.gather({reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double)})) {
    const size_t before = all.size();
    all.resize(before + bytes.size() / sizeof(double));
    std::memcpy(all.data() + before, bytes.data(), bytes.size());
  }
  return all;
}

// Lines have no line breaks.
std::vector<std::string> gathered(const std::vector<std::string>& own, Communicator& ranks) {
  std::string text;
  for (const std::string& line : own) text += line + '\n';
  std::vector<std::string> all;
  for (const std::string& lines : ranks.gather(text))
    for (size_t at = 0, end; at < lines.size(); at = end + 1) {
      end = lines.find('\n', at);
      all.push_back(lines.substr(at, end - at));
    }
  return all;
}

// What f computes; nothing, on all ranks, if one of them has too little memory. Training itself has enough.
template <class F>
std::optional<std::invoke_result_t<F>> if_memory_suffices(const char* work, Communicator& ranks, const F& f) {
  std::optional<std::invoke_result_t<F>> own;
  std::string failure;
  try {
    own = f();
  } catch (const OutOfMemory& error) {
    failure = error.what();
  }
  failure = first_text(ranks, failure);
  if (failure.empty()) return own;
  log_warning("validation: {}, {} the validation set; training continues without its values", failure, work);
  return std::nullopt;
}

}  // namespace

bool rises(ValidMetric metric) {
  return metric == ValidMetric::bleu || metric == ValidMetric::chrf || metric == ValidMetric::translation;
}

bool better(ValidMetric metric, double a, double b) { return rises(metric) ? a > b : a < b; }

bool beats(ValidMetric metric, double value, const std::map<std::string, double>& best) {
  const auto found = best.find(std::string(name_of(metric)));
  return std::isfinite(value) && (found == best.end() || better(metric, value, found->second));
}

ValidMetric metric_of(const RunValidation::Figure& figure) { return *from_name<ValidMetric>(figure.metric); }

Validation::Validation(const TrainingSetup& setup, const Vocabularies& vocabularies, RunControl& control)
    : setup_(setup), vocabularies_(vocabularies), control_(control) {
  const auto& sets = setup.training.valid_sets;
  if (sets.empty()) return;
  LinePairs lines = read_line_pairs({{sets.front(), sets.back()}, setup.data.tsv});
  require(!lines.source.empty(), "--valid-sets: {} has no lines", sets[0]);
  const SentenceFrames frames = frames_of(setup.model);
  int64_t cropped = 0;  // training has memory for pairs up to --max-length
  size_t first = 0;
  std::array<UnknownTokens, 2> unknown;
  for (size_t i = 0; i < lines.source.size(); ++i) {
    IdPair pair{encoded(vocabularies.source, lines.source[i], setup),
                encoded(vocabularies.target, lines.target[i], setup)};
    unknown[0].add(pair.source, vocabularies.source.unk());
    unknown[1].add(pair.target, vocabularies.target.unk());
    std::vector<TokenLink> no_links;
    if (crop(pair.source, pair.target, no_links, setup.data.max_length) && cropped++ == 0) first = i + 1;
    pairs_.push_back({frames.source.around(std::move(pair.source)), frames.target.around(std::move(pair.target))});
    target_tokens_ += int64_t(pairs_.back().target.size());
  }
  const auto sides = encoded_sides({sets.front(), sets.back()}, {vocabularies.source, vocabularies.target},
                                   setup.data.vocabs, "", setup.data.no_spm_encode);
  for (const size_t side : {0, 1}) UnknownTokensWarning(sides[side]).at_end(unknown[side]);
  if (cropped > 0 && wants({ValidMetric::cross_entropy, ValidMetric::perplexity}))
    log_warning(
        "--valid-sets: {} longer than --max-length {} pieces, the first in line {}: cross-entropy and perplexity "
        "are of {} beginnings only",
        cropped == 1 ? "a pair is" : grouped(cropped) + " pairs are", setup.data.max_length, grouped(int64_t(first)),
        cropped == 1 ? "its" : "their");
  if (const auto most = size_t(setup.training.valid_max_lines); most > 0 && most < lines.source.size()) {
    lines.source.resize(most);
    lines.target.resize(most);
  }
  sources_ = std::move(lines.source);
  references_ = as_translations_are(vocabularies.target, std::move(lines.target), setup.data.no_spm_encode);
}

std::string Validation::fingerprint(ValidMetric metric) const {
  const TrainingOptions& o = setup_.training;
  Fingerprint all;
  if (rises(metric)) {
    for (const auto& lines : {sources_, references_})
      for (const std::string& line : lines) all.add(line);
    all.add(fmt::format("{} {} {}", o.valid_beam_size, o.valid_normalize, setup_.data.no_spm_encode));
  } else {
    for (const IdPair& pair : pairs_)
      for (const auto& ids : {pair.source, pair.target}) all.add(bytes_of(ids));
  }
  if (metric == ValidMetric::bleu && o.valid_tokenize != Tokenizer::thirteen_a)  // which older versions always had
    all.add(std::string(name_of(o.valid_tokenize)));
  if (metric == ValidMetric::translation) {
    all.add(o.valid_script_path);
    for (const std::string& argument : o.valid_script_args) all.add(argument);
  }
  return fmt::format("{:016x}", all.value());
}

std::optional<std::vector<std::string>> Validation::translations(const MeasuredModel& measured,
                                                                 const PackedWeights& packed,
                                                                 Communicator& ranks) const {
  SearchOptions search;
  search.beam_size = setup_.training.valid_beam_size;
  search.normalize = setup_.training.valid_normalize;
  TranslateOptions options;
  options.no_spm_encode = setup_.data.no_spm_encode;
  Context cx{.backend = measured.backend, .arena = measured.arena, .packed = &packed};
  // A single search uses the memory that training has left; several would be a tenth faster, but need their own memory.
  const auto own = if_memory_suffices("translating", ranks, [&] {
    return Translator(cx, measured.model, vocabularies_, options, search).translate(share_of(sources_, ranks));
  });
  return own ? std::optional(gathered(*own, ranks)) : std::nullopt;
}

// In batches that training has memory for.
std::optional<double> Validation::cross_entropy(const MeasuredModel& measured, const PackedWeights& packed,
                                                Communicator& ranks) const {
  const int64_t wanted = setup_.data.mini_batch_words > 0 ? setup_.data.mini_batch_words : usual_batch_words;
  const auto own = if_memory_suffices("scoring", ranks, [&] {
    return score_pairs({measured.backend, measured.arena, packed}, measured.model, share_of(pairs_, ranks),
                       std::min(wanted, measured.rows));
  });
  if (!own) return std::nullopt;
  double sum = 0;
  for (const double log_prob : gathered(*own, ranks)) sum -= log_prob / double(target_tokens_);
  return sum;
}

bool Validation::wants(std::initializer_list<ValidMetric> metrics) const {
  return std::ranges::any_of(setup_.training.valid_metrics,
                             [&](ValidMetric m) { return std::ranges::count(metrics, m) > 0; });
}

// The file of --valid-translation-output; empty without the option, or if it could not be written.
std::string Validation::write_translations(const std::vector<std::string>& translations, const Progress& progress,
                                           Unwritten& unwritten) const {
  const std::string file = filled_in(setup_.training.valid_translation_output, progress);
  if (file.empty()) return "";
  try {
    write_lines(file, translations);
    return file;
  } catch (const Error& error) {
    unwritten.add("--valid-translation-output", error.what());
    log_warning("training continues without --valid-translation-output, and will end with an error: {}", error.what());
    return "";
  }
}

std::optional<double> Validation::figure_of_script(const std::vector<std::string>& translations,
                                                   std::string file) const {
  const ValidScript script{setup_.training.valid_script_path, setup_.training.valid_script_args};
  try {
    if (!file.empty()) return judge(script, file, control_.script);
    const ScratchFolder folder;
    write_lines(file = folder.file("translations"), translations);
    return judge(script, file, control_.script);
  } catch (const Error& error) {
    log_warning("--valid-script-path {}: {}; training continues without its value", script.command, error.what());
    return std::nullopt;
  }
}

namespace {

// Broadcasts the values of rank 0 to all ranks.
std::vector<std::optional<double>> share_figures(std::vector<std::optional<double>> values, size_t metrics,
                                                 Communicator& ranks) {
  struct Figure {
    bool known;
    double value;
  };
  std::vector<Figure> all(metrics);
  for (size_t m = 0; m < values.size(); ++m) all[m] = {values[m].has_value(), values[m].value_or(0)};
  ranks.broadcast(writable_bytes_of(all));
  values.clear();
  for (const Figure& f : all) values.push_back(f.known ? std::optional(f.value) : std::nullopt);
  return values;
}

}  // namespace

std::vector<std::optional<double>> Validation::measure(const MeasuredModel& measured, const Progress& progress,
                                                       Unwritten& unwritten, Communicator& ranks) const {
  const PackedWeights packed = measured.model.parameters().pack();
  std::optional<double> entropy;
  if (wants({ValidMetric::cross_entropy, ValidMetric::perplexity})) entropy = cross_entropy(measured, packed, ranks);
  std::optional<std::vector<std::string>> hypotheses;
  std::string kept;
  if (wants({ValidMetric::bleu, ValidMetric::chrf, ValidMetric::translation})) {
    hypotheses = translations(measured, packed, ranks);
  }
  const size_t metrics = setup_.training.valid_metrics.size();
  if (ranks.rank() > 0) return share_figures({}, metrics, ranks);
  if (hypotheses) kept = write_translations(*hypotheses, progress, unwritten);
  std::vector<std::optional<double>> values;
  for (ValidMetric m : setup_.training.valid_metrics) {
    if (rises(m) ? !hypotheses : !entropy) {
      values.push_back(std::nullopt);
      continue;
    }
    switch (m) {
      case ValidMetric::cross_entropy:
        values.push_back(entropy);
        break;
      case ValidMetric::perplexity:
        values.push_back(std::exp(*entropy));
        break;
      case ValidMetric::bleu:
        values.push_back(bleu(*hypotheses, {references_}, setup_.training.valid_tokenize).score);
        break;
      case ValidMetric::chrf:
        values.push_back(chrf(*hypotheses, {references_}));
        break;
      case ValidMetric::translation:
        values.push_back(figure_of_script(*hypotheses, kept));
        break;
    }
  }
  return share_figures(std::move(values), metrics, ranks);
}

}  // namespace dragoman
