#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

struct LineCodecOptions {
  double alpha = 0;   // subword sampling; 0: the best segmentation
  uint64_t seed = 1;  // of sampling
  bool ids = false;   // ids instead of pieces
};

/// Converts lines of text to lines of pieces, separated by blanks, and back. Lines come in blocks, which are changed in
/// place; sampling depends on the seed, the number of the block and its lines. Thread-safe.
class LineCodec {
 public:
  LineCodec(Vocabulary vocabulary, const LineCodecOptions& options)
      : vocabulary_(std::move(vocabulary)), options_(options) {}

  void encode(std::vector<std::string>& lines, int64_t block) const;
  /// Error for an invalid id; `file` and `first`, the number of the first line, locate it.
  void decode(std::vector<std::string>& lines, const std::string& file, int64_t first) const;

 private:
  const Vocabulary vocabulary_;
  const LineCodecOptions options_;
};

/// "▁the ▁book"
std::string with_pieces(const Vocabulary& vocabulary, const std::vector<int32_t>& ids);

}  // namespace dragoman
