#pragma once

#include "metrics/signature.h"
#include "metrics/tokenize.h"

namespace dragoman {

struct EvaluateCommandOptions : EvaluateOptions {
  bool oracle = false;  // print the translations of an n-best list that have the best BLEU against the references
  bool mbr = false;     // print the translations of an n-best list of minimum Bayes risk: of the highest mean metric
  bool json = false;
};

}  // namespace dragoman
