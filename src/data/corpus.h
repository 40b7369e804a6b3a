#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/options.h"
#include "data/pair_store.h"
#include "data/parallel_text.h"
#include "data/unknown_tokens.h"
#include "model/frame.h"
#include "vocab/vocabulary.h"

namespace dragoman {

class MachineRanks;

/// Text that is read once, part by part; each part is an epoch (--stream).
struct TextStream {
  int64_t part_lines = 0;                   // lines of a part; the last may have fewer
  int64_t first_epoch = 0;                  // of the run that trains on it: the one that the first part is
  std::optional<ParallelReader> text = {};  // what has not been read; opened for the first part
};

/// The text of one corpus or of several, which are read as one, and how lines become ids.
/// Arrays and vectors of two are {source, target}.
struct CorpusFiles {
  std::vector<TextPair> texts;
  std::vector<Vocabulary> vocabularies;
  std::array<double, 2> alphas = {0, 0};    // subword sampling; 0: the one best encoding
  bool given_pieces = false;                // lines are already pieces, split at blanks
  int max_length = 256;                     // pieces per side, </s> not counted
  bool crops = false;                       // longer pairs are cropped to that, not dropped
  uint64_t seed = 1;                        // of subword sampling
  std::vector<double> weights = {};         // of texts, as DataOptions::corpus_weights
  std::shared_ptr<TextStream> stream = {};  // null: the whole text is an epoch
  int64_t ram = 0;                          // bytes for pairs and their order; more goes to a file. 0: no limit
  std::shared_ptr<const MachineRanks> machine = {};  // that share the corpus and its --ram; null: not shared
  std::string tempdir = {};                          // for that file
  double links_weight = 0;                           // of links of tokens, if texts have them, in the loss
  std::optional<SentenceFrames> frames = {};         // special pieces around sentences; none: </s> at the end

  /// A sentence of a side with its special pieces.
  std::vector<int32_t> framed(int side, std::vector<int32_t> pieces) const;
  /// Links of pieces as links of the tokens of such sentences.
  std::vector<TokenLink> framed(std::vector<TokenLink> links) const;
  bool weighted() const { return texts.front().weights.exist(); }
  bool linked() const { return texts.front().links.exist(); }
  bool sampled() const { return alphas[0] != 0 || alphas[1] != 0; }
};

/// Error unless there are no weights, or one for each corpus, at least one of them above 0.
void require_weights(const std::vector<double>& weights, size_t corpora);

/// The files of --train-sets, --data-weighting and --guided-alignment.
std::vector<TextPair> training_texts(const DataOptions& options);

/// The files of --train-sets, with the options that go with them.
CorpusFiles training_files(const DataOptions& options, const Vocabulary& source, const Vocabulary& target,
                           uint64_t seed);

/// With sampling, each text of a weight above 1 once for each of its copies in an epoch, so that copies of a pair have
/// segmentations of their own. Otherwise the same files.
CorpusFiles with_sampled_copies(CorpusFiles files);

/// Counts of the lines that were kept and dropped. Arrays are {source, target}.
struct CorpusReport {
  std::string name;  // of the files
  int max_length = 0;
  int64_t lines = 0;                       // of each side
  int64_t kept = 0;                        // pairs
  int64_t dropped_empty = 0;               // pairs with nothing on one side
  int64_t dropped_long = 0;                // pairs with more than max_length pieces on one side …
  int64_t cropped = 0;                     // … or such pairs that were kept
  std::array<int64_t, 2> tokens = {0, 0};  // of kept pairs, </s> included
  std::array<UnknownTokens, 2> unknown;    // of those, without special ones
  int64_t links = 0;                       // of kept pairs (--guided-alignment)
  std::array<ParallelReader::Invalid, 2> invalid_utf8;
  std::string folder;      // of the temporary file, if there is one …
  int64_t file_bytes = 0;  // … and its size

  std::string summary() const;  // one line, for people
};

/// Sentence pairs as ids, without their text. Invariant: every sentence has a piece and ends with </s>.
struct Corpus {
  CorpusFiles files;
  int64_t epoch = 0;  // that pieces were sampled for; of a stream the part, from 0
  PairStore pairs;
  std::vector<int64_t> ends;  // for each text of `files`: the number of pairs up to its end
  CorpusReport report;
  uint64_t fingerprint = 0;  // of texts, vocabularies and options: differs if training would see different ids

  int64_t size() const { return pairs.size(); }
};

/// Fills `corpus.ends` from the lines at which the texts end.
void set_ends(Corpus& corpus, const std::vector<int64_t>& lines);

/// Reads and encodes the text on all threads. Several corpora give the same as their concatenation. Invalid UTF-8 is
/// replaced by U+FFFD and counted. Throws Error as ParallelReader does, if no pair is left, and if stopped. Pairs that
/// exceed files.ram go to a temporary file; Error if the disk has no room for it, and if lengths and order alone exceed
/// files.ram. The result depends on the arguments and the files alone, not on the number of threads; without sampling
/// it is the same for every epoch. files.ram only decides where pairs are stored. Ranks that share a machine call this
/// together: the first one reads (data/shared_corpus.h). Of a stream, this reads the first part.
std::shared_ptr<const Corpus> read_corpus(const CorpusFiles& files, int64_t epoch = 0, std::stop_token stop = {});

/// The corpus as another epoch of the run needs it. With sampling, the text is read again: Error if it has changed. Of
/// a stream, this reads on to the part that the epoch is, which must be a later one; null if the text ends before it.
std::shared_ptr<const Corpus> for_epoch(std::shared_ptr<const Corpus> corpus, int64_t epoch, std::stop_token stop = {});

}  // namespace dragoman
