#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/options.h"
#include "vocab/trainer_options.h"

namespace dragoman {

constexpr double least_character_coverage = 0.98;  // SentencePiece's bound

/// SentencePiece's rules of normalisation: VocabularyTraining::normalization.
inline constexpr std::string_view normalization_rules[] = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"};

/// The text and options for learning a new vocabulary. Pieces 0, 1 and 2 are <unk>, <s> and </s>; there is no padding.
struct VocabularyTraining {
  std::vector<std::string> inputs;  // text files, one sentence per line; plain, .gz, .xz, .zst or "-"
  std::vector<int> columns;         // of a line, from 0, separated by tabs; each is a sentence. None: whole lines
  std::string model;                // the file to make
  int size = 32000;  // pieces in all: the special ones, user symbols and bytes included; of a list at most
  VocabularyType type = VocabularyType::bpe;
  std::string normalization = "nmt_nfkc";      // one of normalization_rules; those in _cf lower the case
  double character_coverage = 1;               // share of the text whose characters become pieces of their own
  bool byte_fallback = true;                   // other characters are spelled by their UTF-8 bytes: nothing is unknown
  std::vector<std::string> protected_symbols;  // pieces that are never split
  TrainerOptions trainer_options;              // they override the options above
  int64_t sample_lines = usual_sample_lines;   // learn from this many random lines if there are more; 0: from all
  uint64_t seed = 1;                           // of that choice
  std::string_view size_option = "--size";     // names of the options that set these, for messages
  std::string_view type_option = "--type", normalization_option = "--normalization";
};

/// Learns the vocabulary and writes the file atomically. A name that is_piece_list() makes it a list of the `size` most
/// frequent tokens between blanks, or of all if there are fewer, after "</s>" and "<unk>", as Marian makes them.
/// Tokens that end in a carriage return are left out: it would be the end of a line. The same text and options give the
/// same file on any machine. Memory: about ten times the size of the text or, of a larger one, of the sample. Error if
/// the text is too small for the size; it gives the largest one.
void train_vocabulary(const VocabularyTraining& training);

}  // namespace dragoman
