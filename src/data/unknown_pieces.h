#pragma once
#include <cstdint>
#include <span>

namespace dragoman {

/// Counts the unknown pieces of text of --no-spm-encode, which is read as pieces even if it is not split into them.
class UnknownPieces {
 public:
  void add(std::span<const int32_t> ids, int32_t unknown_id);
  /// Logs a warning if more than a fifth are unknown.
  void warn() const;

 private:
  int64_t pieces_ = 0, unknown_ = 0;
};

}  // namespace dragoman
