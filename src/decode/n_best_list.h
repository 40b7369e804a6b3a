#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/line_reader.h"

namespace dragoman {

/// A line of an n-best list in the format of Moses and Marian: `0 ||| a translation ||| F0= -1.5 ||| -0.3`. All code
/// that reads or writes such lists uses this struct.
struct NBestEntry {
  int64_t line = 0;                      // of the source, counted from 0
  std::string text;                      // the text between the number and the features; may contain `|||`
  std::optional<std::string> alignment;  // "0-0 1-1" or "0.9,0.1 0.2,0.8", may have no links
  std::string word_scores;               // "WordScores= -0.5 -1"; empty: none
  std::string features;                  // "F0= -1.5"
  std::string rest;                      // " ||| -0.3": everything after the features
};

/// What LineReader should say of such a file.
constexpr std::string_view list_of_entries = "translations as dragoman translate --n-best prints them";

/// NBestEntry::word_scores of a translation's log-probabilities; lines of text have the same field.
std::string word_scores_field(std::span<const float> log_probs);

/// Error, beginning with `where`, for a line in another format.
NBestEntry n_best_entry(std::string_view line, const std::string& where);

/// The next line of such a list; nullopt at the end.
std::optional<NBestEntry> next_entry(LineReader& list);

std::string to_line(const NBestEntry& entry);

}  // namespace dragoman
