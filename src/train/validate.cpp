#include "train/validate.h"

#include <algorithm>
#include <cmath>

#include "data/pairs.h"
#include "decode/translator.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace dragoman {
namespace {

std::vector<int32_t> encoded(const Vocabulary& vocabulary, const std::string& line, const TrainingSetup& setup) {
  auto ids = setup.data.no_spm_encode ? vocabulary.encode_given_pieces(line) : vocabulary.encode(line);
  if (int64_t(ids.size()) > setup.data.max_length) ids.resize(setup.data.max_length);
  ids.push_back(eos_id);
  return ids;
}

}  // namespace

bool rises(ValidMetric metric) { return metric == ValidMetric::bleu || metric == ValidMetric::chrf; }

Validation::Validation(const TrainingSetup& setup, const Vocabularies& vocabularies)
    : setup_(setup), vocabularies_(vocabularies) {
  const auto& sets = setup.training.valid_sets;
  if (sets.empty()) return;
  LinePairs lines = read_line_pairs({{sets.front(), sets.back()}, setup.data.tsv}, setup.training.valid_max_lines);
  require(!lines.source.empty(), "--valid-sets: {} has no lines", sets[0]);
  sources_ = std::move(lines.source);
  references_ = std::move(lines.target);
  for (size_t i = 0; i < sources_.size(); ++i) {
    pairs_.push_back(
        {encoded(vocabularies.source, sources_[i], setup), encoded(vocabularies.target, references_[i], setup)});
    labels_ += int64_t(pairs_.back().target.size());
  }
}

std::vector<std::string> Validation::translations(const Backend& backend, Arena& arena, Model& model,
                                                  const PackedWeights& packed) const {
  SearchOptions search;
  search.beam_size = setup_.training.valid_beam_size;
  search.normalize = setup_.training.valid_normalize;
  TranslateOptions options;
  options.no_spm_encode = setup_.data.no_spm_encode;
  Context cx{.backend = backend, .arena = arena, .packed = &packed};
  return Translator(cx, model, vocabularies_, options, search).translate(sources_);
}

std::vector<double> Validation::measure(const Backend& backend, Arena& arena, Model& model) const {
  const PackedWeights packed = model.parameters().pack();
  const auto& metrics = setup_.training.valid_metrics;
  const auto wanted = [&](ValidMetric a, ValidMetric b) {
    return std::any_of(metrics.begin(), metrics.end(), [&](ValidMetric m) { return m == a || m == b; });
  };
  double cross_entropy = 0;
  if (wanted(ValidMetric::cross_entropy, ValidMetric::perplexity)) {
    for (double log_prob : score_pairs({backend, arena, packed}, model, pairs_, setup_.data.mini_batch_words))
      cross_entropy -= log_prob / double(labels_);
  }
  std::vector<std::string> hypotheses;
  if (wanted(ValidMetric::bleu, ValidMetric::chrf)) hypotheses = translations(backend, arena, model, packed);
  std::vector<double> values;
  for (ValidMetric m : metrics) {
    switch (m) {
      case ValidMetric::cross_entropy:
        values.push_back(cross_entropy);
        break;
      case ValidMetric::perplexity:
        values.push_back(std::exp(cross_entropy));
        break;
      case ValidMetric::bleu:
        values.push_back(bleu(hypotheses, {references_}).score);
        break;
      case ValidMetric::chrf:
        values.push_back(chrf(hypotheses, {references_}));
        break;
    }
  }
  return values;
}

}  // namespace dragoman
