#include "data/unknown_pieces.h"

#include <algorithm>

#include "base/grouped.h"
#include "base/log.h"

namespace dragoman {

void UnknownPieces::add(std::span<const int32_t> ids, int32_t unknown_id) {
  pieces_ += std::ssize(ids);
  unknown_ += std::ranges::count(ids, unknown_id);
}

void UnknownPieces::warn() const {
  if (unknown_ * 5 <= pieces_) return;
  log_warning(
      "{} of {} pieces are unknown: --no-spm-encode is for text that is split into pieces (dragoman vocab encode)",
      grouped(unknown_), grouped(pieces_));
}

}  // namespace dragoman
