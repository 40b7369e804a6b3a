#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/pieces_in_text.h"

namespace dragoman {

/// Converts the text of a listed vocabulary to written pieces and back. Immutable; thread-safe.
class Segmentation {
 public:
  virtual ~Segmentation() = default;
  virtual WrittenLine encode(std::string_view line) const = 0;
  virtual std::vector<std::string> sample(std::string_view line, double alpha) const = 0;  // in with_sampling_seed()
  virtual DecodedText decode(const std::vector<std::string>& pieces) const = 0;
  virtual std::string text_of(const std::string& piece) const = 0;  // Vocabulary::text_of
  virtual std::string unknown() const = 0;                          // what decode() accepts as an unknown piece
  virtual bool is_byte(const std::string&) const { return false; }
};

/// A SentencePiece model. Characters that it lacks are pieces of their own, which the list may contain.
std::unique_ptr<const Segmentation> sentencepiece_segmentation(const std::string& model, const std::string& name);

/// Pieces are separated by blanks: the text is already tokenised.
std::unique_ptr<const Segmentation> token_segmentation();

/// The same of text that subword-nmt has split: pieces that end with "@@" are joined to the next one in decode().
std::unique_ptr<const Segmentation> continued_segmentation();

/// Byte-pair encoding (Sennrich et al. 2016) as in subword-nmt's apply_bpe, by its file of merges, version 0.1 or 0.2,
/// without glossaries and thresholds. Blanks separate words; a piece that does not end its word ends with "@@". The
/// text is already tokenised (and lower-cased or truecased): Moses' tokenizer is not included.
/// Cost: O(n log n) in the length of a word.
std::unique_ptr<const Segmentation> bpe_segmentation(std::string_view merges, const std::string& name);

}  // namespace dragoman
