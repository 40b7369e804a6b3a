#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "data/options.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// Sentences of one side as ids, laid end to end; sentence i is ids [offsets[i], offsets[i+1]).
struct Sentences {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0};

  int64_t size() const { return int64_t(offsets.size()) - 1; }
  int64_t length(int64_t i) const { return offsets[i + 1] - offsets[i]; }
  std::span<const int32_t> operator[](int64_t i) const { return {ids.data() + offsets[i], size_t(length(i))}; }
};

/// A pair of text files (plain, .gz, .xz, .zst) whose line i are translations of each other, and how lines become ids.
/// Arrays and vectors are {source, target}.
struct CorpusFiles {
  std::array<std::string, 2> paths;
  std::vector<Vocabulary> vocabularies;
  std::array<double, 2> alphas = {0, 0};  // subword sampling; 0: the one best encoding
  bool given_pieces = false;              // lines are already pieces, split at blanks
  int max_length = 256;                   // pieces a side, </s> not counted
  uint64_t seed = 1;                      // of subword sampling

  bool sampled() const { return alphas[0] != 0 || alphas[1] != 0; }
};

/// The files of --train-sets, with the options that go with them.
CorpusFiles training_files(const DataOptions& options, const Vocabulary& source, const Vocabulary& target,
                           uint64_t seed);

/// What became of the lines of a corpus. Arrays are {source, target}.
struct CorpusReport {
  struct InvalidUtf8 {
    int64_t lines = 0, first = 0;  // how many, and the number of the first, from 1
  };

  std::array<std::string, 2> paths;
  int max_length = 0;
  int64_t lines = 0;                       // of each file
  int64_t kept = 0;                        // pairs
  int64_t dropped_empty = 0;               // pairs with nothing on one side
  int64_t dropped_long = 0;                // pairs with more than max_length pieces on one side
  std::array<int64_t, 2> tokens = {0, 0};  // of kept pairs, </s> included
  std::array<InvalidUtf8, 2> invalid_utf8;

  std::string summary() const;  // one line, for people
};

/// Sentence pairs in memory: ids only, never text. 4 bytes a token and 20 bytes a pair.
/// Invariants: source, target and lines have one entry a pair; every sentence has a piece and ends with </s>.
struct Corpus {
  CorpusFiles files;
  int64_t epoch = 0;  // that pieces were sampled for
  Sentences source, target;
  std::vector<int32_t> lines;  // where each pair stands in the files, from 0: random masks are keyed by it
  CorpusReport report;
  uint64_t fingerprint = 0;  // of the texts, vocabularies and options: differs when training would see other ids

  int64_t size() const { return source.size(); }
};

/// Reads both files at once, one thread a side. Invalid UTF-8 is replaced by U+FFFD and counted. Throws Error when a
/// file cannot be read, when the files differ in their number of lines, when no pair is left, and when stopped.
/// The result is a function of the arguments and the files alone; without sampling it is the same for every epoch.
std::shared_ptr<const Corpus> read_corpus(const CorpusFiles& files, int64_t epoch = 0, std::stop_token stop = {});

}  // namespace dragoman
