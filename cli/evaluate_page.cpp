#include "cli/evaluate_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grouped.h"
#include "metrics/chrf.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

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

// The parameters of a metric in the format of sacreBLEU's signatures, to be quoted with the score.
std::string signature_of(CorpusMetric metric, const EvaluateCommandOptions& o) {
  std::string text = fmt::format("nrefs:{}", o.references.size());
  if (o.paired_ar) text += fmt::format("|ar:{}", randomization_of(o).samples);
  if (o.paired_bs || o.confidence) text += fmt::format("|bs:{}", bootstrap_of(o).samples);
  if (o.paired_ar || o.paired_bs || o.confidence) text += fmt::format("|seed:{}", o.seed);
  const char* letters = o.lowercase ? "lc" : "mixed";
  switch (metric) {
    case CorpusMetric::bleu:
      text += fmt::format("|case:{}|eff:no|tok:{}|smooth:exp", letters, name_of(o.tokenize));
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

size_t width_of_names(const std::vector<SystemFigures>& systems) {
  size_t width = 6;
  for (const auto& system : systems) width = std::max(width, system.system.size());
  return width;
}

size_t width_of(const Figure& figure) { return std::max<size_t>(6, figure.title.size()); }

// One row per system, one column per metric; BLEU and EVALB also show their components.
std::string score_table(const std::vector<SystemFigures>& systems) {
  const size_t width = width_of_names(systems);
  std::string page = fmt::format("{:<{}}", "system", width);
  for (const Figure& figure : systems.front().figures) {
    page += fmt::format("  {:>{}}", figure.title, width_of(figure));
    if (figure.bleu) page += "  1-gram  2-gram  3-gram  4-gram  brevity  length";
    if (figure.evalb) page += "  precision  recall  complete";
  }
  for (const auto& system : systems) {
    page += fmt::format("\n{:<{}}", system.system, width);
    for (const Figure& figure : system.figures) {
      page += fmt::format("  {:{}.2f}", figure.score, width_of(figure));
      if (const auto& bleu = figure.bleu) {
        for (const double precision : bleu->precisions) page += fmt::format("  {:6.1f}", precision);
        page += fmt::format("  {:7.3f}  {:6.3f}", bleu->brevity_penalty, bleu->ratio());
      }
      if (const auto& evalb = figure.evalb)
        page += fmt::format("  {:9.2f}  {:6.2f}  {:8.2f}", evalb->precision, evalb->recall, evalb->complete);
    }
  }
  return page + "\n";
}

// One row per system and metric: the confidence interval, and the p-value of the difference from the first system.
std::string significance_table(const EvaluateCommandOptions& options, const std::vector<SystemFigures>& systems) {
  const bool intervals = options.confidence || options.paired_bs, paired = options.paired_bs || options.paired_ar;
  const size_t width = width_of_names(systems);
  std::string page = fmt::format("\n{:<{}}  metric    score", "system", width);
  if (intervals) page += "   95 % confidence";
  if (paired) page += fmt::format("  p (as good as {})", systems.front().system);
  for (size_t f = 0; f < systems.front().figures.size(); ++f)
    for (const auto& system : systems) {
      const Figure& figure = system.figures[f];
      page += fmt::format("\n{:<{}}  {:<7}  {:6.2f}", system.system, width, figure.title, figure.score);
      if (intervals) page += fmt::format("  {:7.2f} ± {:5.2f}", figure.interval->mean, figure.interval->half_width);
      if (figure.p_value) page += fmt::format("   {:.4f}", *figure.p_value);
    }
  return page + "\n";
}

Json to_json(const SystemFigures& system) {
  Json json{{"system", system.system}};
  for (const Figure& figure : system.figures) {
    const std::string& name = figure.name;
    json[name] = figure.score;
    if (const auto& bleu = figure.bleu) {
      json["bleu_precisions"] = bleu->precisions;
      json["bleu_brevity_penalty"] = bleu->brevity_penalty;
      json["bleu_length_ratio"] = bleu->ratio();
    }
    if (const auto& evalb = figure.evalb) {
      json["evalb_precision"] = evalb->precision;
      json["evalb_recall"] = evalb->recall;
      json["evalb_complete"] = evalb->complete;
      json["evalb_malformed"] = evalb->stats.malformed;
      json["evalb_other_words"] = evalb->stats.other_words;
    }
    if (figure.interval)
      json[name + "_confidence"] = {{"mean", figure.interval->mean}, {"half_width", figure.interval->half_width}};
    if (figure.p_value) json[name + "_p_value"] = *figure.p_value;
  }
  return json;
}

}  // namespace

std::vector<CorpusMetric> metrics_of(const EvaluateCommandOptions& options) {
  std::vector<CorpusMetric> metrics;
  for (const auto& [metric, name] : enum_names(CorpusMetric{}))
    if (std::ranges::count(options.metrics, metric) > 0) metrics.push_back(metric);
  return metrics;
}

Resampling bootstrap_of(const EvaluateCommandOptions& options) {
  const bool own_number = options.samples > 0 && !options.paired_ar;
  return {own_number ? options.samples : 1000, options.seed};
}

Resampling randomization_of(const EvaluateCommandOptions& options) {
  return {options.samples > 0 ? options.samples : 10'000, options.seed};
}

std::string figures_page(const EvaluateCommandOptions& options, const std::vector<SystemFigures>& systems) {
  std::string page = score_table(systems);
  if (options.confidence || options.paired_bs || options.paired_ar) page += significance_table(options, systems);
  page += "\n";
  for (const CorpusMetric metric : metrics_of(options))
    page += fmt::format("{:<7}  {}\n", title_of(metric), signature_of(metric, options));
  return page;
}

std::string figures_json(const EvaluateCommandOptions& options, const std::vector<SystemFigures>& systems) {
  Json page = systems.size() == 1 ? to_json(systems.front()) : Json::object();
  if (systems.size() > 1)
    for (const auto& system : systems) page["systems"].push_back(to_json(system));
  for (const CorpusMetric metric : metrics_of(options))
    page[fmt::format("{}_signature", name_of(metric))] = signature_of(metric, options);
  return page.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // file names may be invalid UTF-8
}

}  // namespace dragoman
