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
      break;
  }
  return "TER";
}

// What a figure depends on, in the form that sacreBLEU gave the field: to be quoted with the figure.
std::string signature_of(CorpusMetric metric, const EvaluateOptions& o) {
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
  }
  return text + "|version:dragoman-" DRAGOMAN_VERSION;
}

size_t width_of_names(const std::vector<SystemFigures>& systems) {
  size_t width = 6;
  for (const auto& system : systems) width = std::max(width, system.system.size());
  return width;
}

// A row a system, a column a metric; BLEU shows what it is made of.
std::string score_table(const std::vector<SystemFigures>& systems) {
  const size_t width = width_of_names(systems);
  std::string page = fmt::format("{:<{}}", "system", width);
  for (const auto& [metric, figure] : systems.front().figures) {
    page += fmt::format("  {:>6}", title_of(metric));
    if (metric == CorpusMetric::bleu) page += "  1-gram  2-gram  3-gram  4-gram  brevity  length";
  }
  for (const auto& system : systems) {
    page += fmt::format("\n{:<{}}", system.system, width);
    for (const auto& [metric, figure] : system.figures) {
      page += fmt::format("  {:{}.2f}", figure.score, std::max<size_t>(6, title_of(metric).size()));
      if (metric != CorpusMetric::bleu) continue;
      for (const double precision : system.bleu.precisions) page += fmt::format("  {:6.1f}", precision);
      page += fmt::format("  {:7.3f}  {:6.3f}", system.bleu.brevity_penalty, system.bleu.ratio());
    }
  }
  return page + "\n";
}

// A row a system and metric: where the figure would lie for other lines, and whether it differs from the first's.
std::string significance_table(const EvaluateOptions& options, const std::vector<SystemFigures>& systems) {
  const bool intervals = options.confidence || options.paired_bs, paired = options.paired_bs || options.paired_ar;
  const size_t width = width_of_names(systems);
  std::string page = fmt::format("\n{:<{}}  metric    score", "system", width);
  if (intervals) page += "   95 % confidence";
  if (paired) page += fmt::format("  p (as good as {})", systems.front().system);
  for (const auto& [metric, unused] : systems.front().figures)
    for (const auto& system : systems) {
      const Figure& figure = system.figures.at(metric);
      page += fmt::format("\n{:<{}}  {:<7}  {:6.2f}", system.system, width, title_of(metric), figure.score);
      if (intervals) page += fmt::format("  {:7.2f} ± {:5.2f}", figure.interval->mean, figure.interval->half_width);
      if (figure.p_value) page += fmt::format("   {:.4f}", *figure.p_value);
    }
  return page + "\n";
}

Json to_json(const SystemFigures& system) {
  Json json{{"system", system.system}};
  for (const auto& [metric, figure] : system.figures) {
    const std::string name(name_of(metric));
    json[name] = figure.score;
    if (metric == CorpusMetric::bleu) {
      json["bleu_precisions"] = system.bleu.precisions;
      json["bleu_brevity_penalty"] = system.bleu.brevity_penalty;
      json["bleu_length_ratio"] = system.bleu.ratio();
    }
    if (figure.interval)
      json[name + "_confidence"] = {{"mean", figure.interval->mean}, {"half_width", figure.interval->half_width}};
    if (figure.p_value) json[name + "_p_value"] = *figure.p_value;
  }
  return json;
}

}  // namespace

Resampling bootstrap_of(const EvaluateOptions& options) {
  const bool own_number = options.samples > 0 && !options.paired_ar;
  return {own_number ? options.samples : 1000, options.seed};
}

Resampling randomization_of(const EvaluateOptions& options) {
  return {options.samples > 0 ? options.samples : 10'000, options.seed};
}

std::string figures_page(const EvaluateOptions& options, const std::vector<SystemFigures>& systems) {
  std::string page = score_table(systems);
  if (options.confidence || options.paired_bs || options.paired_ar) page += significance_table(options, systems);
  page += "\n";
  for (const auto& [metric, unused] : systems.front().figures)
    page += fmt::format("{:<7}  {}\n", title_of(metric), signature_of(metric, options));
  return page;
}

std::string figures_json(const EvaluateOptions& options, const std::vector<SystemFigures>& systems) {
  Json page = systems.size() == 1 ? to_json(systems.front()) : Json::object();
  if (systems.size() > 1)
    for (const auto& system : systems) page["systems"].push_back(to_json(system));
  for (const auto& [metric, unused] : systems.front().figures)
    page[fmt::format("{}_signature", name_of(metric))] = signature_of(metric, options);
  return page.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // file names may be any bytes
}

}  // namespace dragoman
