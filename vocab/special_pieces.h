#pragma once
#include <cstdint>
#include <vector>

namespace dragoman {

/// Ids of the pieces with a meaning of their own; -1: the vocabulary has no such piece.
struct SpecialPieces {
  int32_t unk = -1;
  int32_t bos = -1;
  int32_t eos = -1;
  int32_t pad = -1;
  std::vector<int32_t> control = {};  // others that never occur in text, such as language codes
};

}  // namespace dragoman
