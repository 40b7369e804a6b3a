#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "options/machine_options.h"
#include "vocab/options.h"

namespace dragoman {

enum class VocabAction { train, encode, decode, inspect };

inline std::span<const EnumName<VocabAction>> enum_names(VocabAction) {
  static constexpr EnumName<VocabAction> names[] = {{VocabAction::train, "train"},
                                                    {VocabAction::encode, "encode"},
                                                    {VocabAction::decode, "decode"},
                                                    {VocabAction::inspect, "inspect"}};
  return names;
}

struct VocabOptions : MachineOptions {
  VocabAction action = VocabAction::inspect;
  std::string model;                // the SentencePiece file; written by train
  std::vector<std::string> inputs;  // train: text files; encode, decode: stdin when empty
  std::string output = "-";         // encode, decode, inspect
  int size = 32000;                 // train: number of pieces, including bytes and special ones
  VocabularyType type = VocabularyType::bpe;
  std::string normalization = "nmt_nfkc";
  double character_coverage = 1;
  int64_t vocabulary_lines = usual_sample_lines;  // train: random lines to learn from; 0: all
  std::string sentencepiece_options;              // train: as trainer_options() reads them
  bool no_byte_fallback = false;
  std::vector<std::string> protected_symbols;  // pieces that are never split
  double alpha = 0;                            // encode: subword sampling; 0: the best segmentation
  uint64_t seed = 1;                           // of sampling and training
  bool ids = false;                            // encode, decode: ids instead of pieces
};

}  // namespace dragoman
