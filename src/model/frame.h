#pragma once
#include <cstdint>
#include <vector>

#include "model/config.h"

namespace dragoman {

/// What stands around the pieces of a sentence, as the model was trained: ids before and after them.
struct SentenceFrame {
  std::vector<int32_t> before, after;
  int32_t alone = -1;  // what an empty sentence consists of if nothing stands around it

  /// The whole sentence, which has a token.
  std::vector<int32_t> around(std::vector<int32_t> pieces) const;
  size_t size() const { return before.size() + after.size(); }
};

struct SentenceFrames {
  SentenceFrame source, target;
};

/// Of a source. Error if the model translates between several languages and does not know which.
SentenceFrame source_frame(const ModelConfig& config);

/// Of a target as the decoder generates it: what stands before the pieces is given, so that its probability does not
/// count. Error as above.
SentenceFrame target_frame(const ModelConfig& config);

SentenceFrames frames_of(const ModelConfig& config);

}  // namespace dragoman
