#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

/// A line of an n-best list in the format of Moses and Marian: `0 ||| a translation ||| F0= -1.5 ||| -0.3`. All that
/// writes or reads such lists does so through this.
struct NBestEntry {
  int64_t line = 0;                      // of the source, counted from 0
  std::string text;                      // what stands between the number and the features, `|||` included
  std::optional<std::string> alignment;  // "0-0 1-1" or "0.9,0.1 0.2,0.8", which may have no link
  std::string word_scores;               // "WordScores= -0.5 -1"; empty: none
  std::string features;                  // "F0= -1.5"
  std::string rest;                      // " ||| -0.3": all that follows
};

/// Error, which begins with `where`, for any other line.
NBestEntry n_best_entry(std::string_view line, const std::string& where);

std::string to_line(const NBestEntry& entry);

}  // namespace dragoman
