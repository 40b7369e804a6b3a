#pragma once
#include <string>
#include <vector>

#include "dragoman/evaluate.h"

namespace dragoman {

struct QuantizeOptions {
  std::string model, output;
  std::vector<std::string> valid_sets;         // {source, target}; empty: quality is not measured
  double gate = 100;                           // largest drop of BLEU allowed
  int beam_size = 5;                           // as in translate
  Tokenizer tokenize = Tokenizer::thirteen_a;  // for BLEU
};

}  // namespace dragoman
