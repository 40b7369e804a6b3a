#pragma once
#include <cstdint>
#include <vector>

#include "model/config.h"

namespace dragoman {

/// The special ids before and after the pieces of a sentence, as in training.
struct SentenceFrame {
  std::vector<int32_t> before, after;
  int32_t alone = -1;  // the only token of an empty sentence if there are no special ids

  /// The whole sentence; it has at least one token.
  std::vector<int32_t> around(std::vector<int32_t> pieces) const;
  size_t size() const { return before.size() + after.size(); }
};

struct SentenceFrames {
  SentenceFrame source, target;
};

/// For a source. Error if the model translates between several languages and the language is unknown.
SentenceFrame source_frame(const ModelConfig& config);

/// For a target in decoding: the ids before the pieces are forced, so their probabilities do not count. Error as above.
SentenceFrame target_frame(const ModelConfig& config);

SentenceFrames frames_of(const ModelConfig& config);

/// Whether the languages are known that these need.
bool knows_languages(const ModelConfig& config);

}  // namespace dragoman
