#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decode/options.h"
#include "explain/options.h"

namespace dragoman {

/// The pairs to explain, and how.
struct ExplainOptions : AttentionChoice {
  std::string model;
  std::vector<std::string> train_sets;        // {source, target}; empty: …
  std::string input = "-";                    // … these lines are translated
  int max_length = 100;                       // pieces per side; longer pairs are skipped
  int64_t max_lines = 100;                    // 0: all
  int beam_size = SearchOptions{}.beam_size;  // as in translate
  bool no_spm_encode = false;                 // the text is already split into pieces
  std::vector<std::string> vocabs;            // of another program's model, if no file beside it names them
  std::string source_lang, target_lang;       // of a multilingual model; empty: those stored in the model
};

}  // namespace dragoman
