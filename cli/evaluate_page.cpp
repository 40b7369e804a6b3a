#include "cli/evaluate_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

size_t width_of_names(const std::vector<SystemScores>& systems) {
  size_t width = 6;
  for (const auto& system : systems) width = std::max(width, system.system.size());
  return width;
}

size_t width_of(const MetricScore& figure) { return std::max<size_t>(6, figure.title.size()); }

// One row per system, one column per metric; BLEU and EVALB also show their components.
std::string score_table(const std::vector<SystemScores>& systems) {
  const size_t width = width_of_names(systems);
  std::string page = fmt::format("{:<{}}", "system", width);
  for (const MetricScore& figure : systems.front().scores) {
    page += fmt::format("  {:>{}}", figure.title, width_of(figure));
    if (figure.bleu) page += "  1-gram  2-gram  3-gram  4-gram  brevity  length";
    if (figure.evalb) page += "  precision  recall  complete";
  }
  for (const auto& system : systems) {
    page += fmt::format("\n{:<{}}", system.system, width);
    for (const MetricScore& figure : system.scores) {
      page += fmt::format("  {:{}.2f}", figure.score, width_of(figure));
      if (const auto& bleu = figure.bleu) {
        for (const double precision : bleu->precisions) page += fmt::format("  {:6.1f}", precision);
        page += fmt::format("  {:7.3f}  {:6.3f}", bleu->brevity_penalty, bleu->length_ratio);
      }
      if (const auto& evalb = figure.evalb)
        page += fmt::format("  {:9.2f}  {:6.2f}  {:8.2f}", evalb->precision, evalb->recall, evalb->complete);
    }
  }
  return page + "\n";
}

// One row per system and metric: the confidence interval, and the p-value of the difference from the first system.
std::string significance_table(const EvaluateOptions& options, const std::vector<SystemScores>& systems) {
  const bool intervals = options.confidence || options.paired_bs, paired = options.paired_bs || options.paired_ar;
  const size_t width = width_of_names(systems);
  std::string page = fmt::format("\n{:<{}}  metric    score", "system", width);
  if (intervals) page += "   95 % confidence";
  if (paired) page += fmt::format("  p (as good as {})", systems.front().system);
  for (size_t f = 0; f < systems.front().scores.size(); ++f)
    for (const auto& system : systems) {
      const MetricScore& figure = system.scores[f];
      page += fmt::format("\n{:<{}}  {:<7}  {:6.2f}", system.system, width, figure.title, figure.score);
      if (intervals) page += fmt::format("  {:7.2f} ± {:5.2f}", figure.interval->mean, figure.interval->half_width);
      if (figure.p_value) page += fmt::format("   {:.4f}", *figure.p_value);
    }
  return page + "\n";
}

Json to_json(const SystemScores& system) {
  Json json{{"system", system.system}};
  for (const MetricScore& figure : system.scores) {
    const std::string& name = figure.name;
    json[name] = figure.score;
    if (const auto& bleu = figure.bleu) {
      json["bleu_precisions"] = bleu->precisions;
      json["bleu_brevity_penalty"] = bleu->brevity_penalty;
      json["bleu_length_ratio"] = bleu->length_ratio;
    }
    if (const auto& evalb = figure.evalb) {
      json["evalb_precision"] = evalb->precision;
      json["evalb_recall"] = evalb->recall;
      json["evalb_complete"] = evalb->complete;
      json["evalb_malformed"] = evalb->malformed;
      json["evalb_other_words"] = evalb->other_words;
    }
    if (figure.interval)
      json[name + "_confidence"] = {{"mean", figure.interval->mean}, {"half_width", figure.interval->half_width}};
    if (figure.p_value) json[name + "_p_value"] = *figure.p_value;
  }
  return json;
}

}  // namespace

std::string figures_page(const EvaluateOptions& options, const Evaluation& evaluation) {
  const auto& systems = evaluation.systems;
  std::string page = score_table(systems);
  if (options.confidence || options.paired_bs || options.paired_ar) page += significance_table(options, systems);
  page += "\n";
  for (const auto& [name, title, text] : evaluation.signatures) page += fmt::format("{:<7}  {}\n", title, text);
  return page;
}

std::string sentences_page(const Evaluation& evaluation) {
  const std::vector<MetricScore>& figures = evaluation.systems.front().scores;
  std::string page;
  for (size_t line = 0; line < figures.front().lines.size(); ++line)
    for (const MetricScore& figure : figures)
      page += fmt::format("{:.4f}{}", figure.lines[line], &figure == &figures.back() ? '\n' : '\t');
  return page;
}

std::string figures_json(const Evaluation& evaluation) {
  const auto& systems = evaluation.systems;
  Json page = systems.size() == 1 ? to_json(systems.front()) : Json::object();
  if (systems.size() > 1)
    for (const auto& system : systems) page["systems"].push_back(to_json(system));
  for (const auto& [name, title, text] : evaluation.signatures) page[name + "_signature"] = text;
  return json_text(page, 2) + "\n";
}

}  // namespace dragoman
