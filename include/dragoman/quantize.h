#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dragoman/evaluate.h"

namespace dragoman {

class Engine;

/// The model to quantise, and how its quality is measured.
struct QuantizeOptions {
  std::string model = {}, output = {};         // files
  std::vector<std::string> valid_sets = {};    // {source, target}; empty: quality is not measured
  double gate = 100;                           // largest drop of BLEU allowed
  int beam_size = 5;                           // as in translate
  Tokenizer tokenize = Tokenizer::thirteen_a;  // for BLEU
  std::vector<std::string> vocabs = {};  // for a model of another program, if no file beside it names its vocabularies
  std::string source_lang = {}, target_lang = {};  // of a multilingual model; stored in the file
};

/// Quality of the translations of QuantizeOptions::valid_sets, 0 … 100.
struct TranslationQuality {
  double bleu = 0, chrf = 0;
};

struct QuantizeResult {
  int64_t bytes_before = 0, bytes_after = 0;        // sizes of the files
  std::optional<TranslationQuality> float32, int8;  // where quality was measured
};

/// Writes the model with its matrices in 8 bits, as `dragoman quantize` does. Error if the file is not a model in
/// float32, if the output is one of the files read or an existing file that is no dragoman model, and if BLEU falls by
/// more than the gate: then nothing is written. Thread-safe.
QuantizeResult quantize(Engine& engine, const QuantizeOptions& options);

}  // namespace dragoman
