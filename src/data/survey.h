#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/options.h"

namespace dragoman {

/// A survey of text before training on it.

/// A number of lines, and the numbers of the first few, from 1.
struct Occurrences {
  static constexpr size_t shown = 3;
  int64_t count = 0;
  std::vector<int64_t> lines;

  void add(int64_t line) {
    if (++count <= int64_t(shown)) lines.push_back(line);
  }
};

struct SurveyedSide {
  std::string path;     // of the file; of several, "a, b"
  int64_t words = 0;    // of all lines, separated by blanks
  int64_t longest = 0;  // words of the longest line …
  int64_t longest_line = 0;
  ParallelReader::Invalid invalid_utf8;
  // Of the pairs that were encoded:
  int64_t pieces = 0;            // </s> not counted
  int64_t unknown = 0;           // unknown pieces
  int64_t byte_pieces = 0;       // pieces that are one byte of a rare character
  std::vector<int64_t> lengths;  // lengths[n]: lines of n pieces or, without a vocabulary, of n words
};

/// Arrays are {source, target}.
struct CorpusSurvey {
  int64_t lines = 0;       // of each side; other lines are counted through all corpora
  Occurrences empty;       // pairs with nothing but blanks on one side; training skips them
  Occurrences copies;      // both sides are the same
  Occurrences uneven;      // one side has more than three times the characters of the other, and twenty more
  int64_t duplicates = 0;  // repetitions of earlier pairs
  int64_t encoded = 0;     // pairs whose pieces were counted; 0: no vocabularies
  Occurrences no_pieces;   // of these: none on one side, only characters without any; training skips them
  Occurrences too_long;    // of these: more than max_length pieces on one side; training skips or crops them
  std::array<SurveyedSide, 2> sides;
};

/// Reads the text once. Without vocabularies (empty), pieces are not counted. `kept`, if given, has its files set and
/// receives the encoded pairs that training would keep, with links, but without weights. Error as in ParallelReader.
CorpusSurvey survey_corpus(const std::vector<TextPair>& texts, const std::vector<Vocabulary>& vocabularies,
                           const SurveyOptions& options, Corpus* kept = nullptr);

}  // namespace dragoman
