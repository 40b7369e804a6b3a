#include "metrics/evaluate_problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/signature.h"

namespace dragoman {
namespace {

using Metrics = std::vector<CorpusMetric>;

std::string names_of(const Metrics& metrics) {
  std::vector<std::string_view> names;
  for (const CorpusMetric metric : metrics) names.push_back(name_of(metric));
  return fmt::format("{}", fmt::join(names, " "));
}

bool has(const EvaluateOptions& o, CorpusMetric metric) { return std::ranges::count(o.metrics, metric) > 0; }

void add_unused(const EvaluateOptions& o, std::vector<Error>& problems) {
  const EvaluateOptions usual;
  const auto is_for = [&](const char* option, bool changed, const Metrics& metrics) {
    if (changed && std::ranges::none_of(metrics, [&](CorpusMetric metric) { return has(o, metric); }))
      problems.emplace_back(
          fmt::format("--{} is for --metrics {}, not for {}", option, names_of(metrics), names_of(o.metrics)));
  };
  using enum CorpusMetric;
  is_for("tokenize", o.tokenize != usual.tokenize, {bleu});
  is_for("lowercase", o.lowercase, {bleu, chrf, chrf_plus_plus, exact});
  is_for("ter-case-sensitive", o.ter_case_sensitive, {ter});
  is_for("rouge-stemmer", o.rouge_stemmer, {rouge});
  const bool resamples = o.confidence || o.paired_bs || o.paired_ar;
  for (const auto& [option, changed] :
       {std::pair("samples", o.samples != usual.samples), {"seed", o.seed != usual.seed}})
    if (changed && !resamples)
      problems.emplace_back(
          fmt::format("--{} is for --confidence, --paired-bs and --paired-ar, none of which is given", option));
}

}  // namespace

std::vector<Error> problems_of(const EvaluateOptions& o) {
  std::vector<Error> problems;
  add_unused(o, problems);
  if (has(o, CorpusMetric::evalb) && o.references.size() > 1)
    problems.emplace_back(fmt::format("--metrics evalb takes one file of --references, found {}", o.references.size()),
                          "a sentence has one tree: give one file");
  if (o.paired_bs && o.paired_ar)
    problems.emplace_back("--paired-bs and --paired-ar cannot be combined", "give one of them");
  if ((o.paired_bs || o.paired_ar) && o.hypotheses.size() == 1)
    problems.emplace_back(fmt::format("{} compares systems, but --hypotheses names only one",
                                      o.paired_bs ? "--paired-bs" : "--paired-ar"),
                          "give two files or more: the others are compared with the first");
  return problems;
}

}  // namespace dragoman
