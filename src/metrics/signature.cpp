#include "metrics/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/chrf.h"

namespace dragoman {
namespace {

std::string_view title_of(CorpusMetric metric) {
  switch (metric) {
    case CorpusMetric::bleu:
      return "BLEU";
    case CorpusMetric::chrf:
      return "chrF2";
    case CorpusMetric::chrf_plus_plus:
      return "chrF2++";
    case CorpusMetric::ter:
      return "TER";
    case CorpusMetric::rouge:
      return "ROUGE";
    case CorpusMetric::exact:
      return "exact";
    case CorpusMetric::evalb:
      break;
  }
  return "EVALB";
}

std::string parameters_of(CorpusMetric metric, const EvaluateOptions& o, std::string_view tokenizer) {
  std::string text = fmt::format("nrefs:{}", o.references.size());
  if (o.paired_ar) text += fmt::format("|ar:{}", randomization_of(o).samples);
  if (o.paired_bs || o.confidence) text += fmt::format("|bs:{}", bootstrap_of(o).samples);
  if (o.paired_ar || o.paired_bs || o.confidence) text += fmt::format("|seed:{}", o.seed);
  const char* letters = o.lowercase ? "lc" : "mixed";
  switch (metric) {
    case CorpusMetric::bleu:
      text += fmt::format("|case:{}|eff:no|tok:{}|smooth:exp", letters, tokenizer);
      break;
    case CorpusMetric::chrf:
    case CorpusMetric::chrf_plus_plus:
      text += fmt::format("|case:{}|eff:yes|nc:{}|nw:{}|space:no", letters, chrf_character_order,
                          metric == CorpusMetric::chrf ? 0 : chrf_longest_word_order);
      break;
    case CorpusMetric::ter:
      text += fmt::format("|case:{}|tok:tercom|norm:no|punct:yes|asian:no", o.ter_case_sensitive ? "mixed" : "lc");
      break;
    case CorpusMetric::rouge:
      text += fmt::format("|case:lc|stemmer:{}", o.rouge_stemmer ? "porter" : "no");
      break;
    case CorpusMetric::exact:
      text += fmt::format("|case:{}", letters);
      break;
    case CorpusMetric::evalb:
      text += "|prm:COLLINS";
  }
  return text + "|version:dragoman-" DRAGOMAN_VERSION;
}

}  // namespace

std::vector<CorpusMetric> metrics_of(const EvaluateOptions& options) {
  std::vector<CorpusMetric> metrics;
  for (const auto& [metric, name] : enum_names(CorpusMetric{}))
    if (std::ranges::count(options.metrics, metric) > 0) metrics.push_back(metric);
  return metrics;
}

Resampling bootstrap_of(const EvaluateOptions& options) {
  const bool own_number = options.samples > 0 && !options.paired_ar;
  return {own_number ? options.samples : 1000, options.seed};
}

Resampling randomization_of(const EvaluateOptions& options) {
  return {options.samples > 0 ? options.samples : 10'000, options.seed};
}

MetricSignature signature_of(CorpusMetric metric, const EvaluateOptions& options, std::string_view tokenizer) {
  return {std::string(name_of(metric)), std::string(title_of(metric)), parameters_of(metric, options, tokenizer)};
}

}  // namespace dragoman
