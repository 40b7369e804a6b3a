#pragma once

#include "metrics/tokenize.h"

namespace dragoman {

inline std::span<const EnumName<CorpusMetric>> enum_names(CorpusMetric) {
  static constexpr EnumName<CorpusMetric> names[] = {
      {CorpusMetric::bleu, "bleu"},  {CorpusMetric::chrf, "chrf"},   {CorpusMetric::chrf_plus_plus, "chrf++"},
      {CorpusMetric::ter, "ter"},    {CorpusMetric::rouge, "rouge"}, {CorpusMetric::exact, "exact"},
      {CorpusMetric::evalb, "evalb"}};
  return names;
}

struct EvaluateCommandOptions : EvaluateOptions {
  bool oracle = false;  // print the translations of an n-best list that are nearest to the references
  bool json = false;
};

}  // namespace dragoman
