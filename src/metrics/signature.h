#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "dragoman/evaluate.h"
#include "metrics/significance.h"

namespace dragoman {

inline std::span<const EnumName<CorpusMetric>> enum_names(CorpusMetric) {
  static constexpr EnumName<CorpusMetric> names[] = {
      {CorpusMetric::bleu, "bleu"},  {CorpusMetric::chrf, "chrf"},   {CorpusMetric::chrf_plus_plus, "chrf++"},
      {CorpusMetric::ter, "ter"},    {CorpusMetric::rouge, "rouge"}, {CorpusMetric::exact, "exact"},
      {CorpusMetric::evalb, "evalb"}};
  return names;
}

/// The requested metrics, without repetition, in a fixed order.
std::vector<CorpusMetric> metrics_of(const EvaluateOptions& options);

/// Samples and seed of each significance test.
Resampling bootstrap_of(const EvaluateOptions& options);
Resampling randomization_of(const EvaluateOptions& options);

/// `tokenizer` is what BLEU's names.
MetricSignature signature_of(CorpusMetric metric, const EvaluateOptions& options, std::string_view tokenizer);

}  // namespace dragoman
