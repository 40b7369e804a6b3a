#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_reader.h"
#include "data/link_line.h"

namespace dragoman {

/// The files of a corpus: two files of corresponding lines, or one file of lines SOURCE tab TARGET, whose name is then
/// both paths. Files may be plain, .gz, .xz or .zst.
struct TextPair {
  std::array<std::string, 2> paths;
  bool tsv = false;
  std::string weights = {};  // a file with the weight of each pair, one number per line; empty: none
  std::string links = {};    // a file with the links of each pair, such as "0-0 1-2"; empty: none
  bool again = false;        // the same files as of the corpus before
};

/// Throws Error for a file whose name says that it holds both sides: .tsv, also compressed.
void require_one_side(std::string_view option, const std::vector<std::string>& files);

/// The files of an option such as --train-sets: source, target, source, target …, or one a corpus with `tsv`. Error for
/// no files, for an odd number, for more than one of them from stdin ("-"), and without `tsv` for files that
/// require_one_side refuses.
std::vector<TextPair> text_pairs(std::string_view option, const std::vector<std::string>& files, bool tsv);

/// Splits a line of a tsv file, the last that `reader` read, which is in pair[0], into source and target. Throws Error,
/// with file and line, if it does not have exactly one tab.
void split_columns(const LineReader& reader, std::array<std::string, 2>& pair);

/// The files of one side, in order, for people: "a.en, b.en".
std::string side_name(const std::vector<TextPair>& corpora, int side);

/// "a.en and a.de", or one name if both sides are in the same files.
std::string text_name(const std::vector<TextPair>& corpora);

/// Adds the files of --data-weighting, if there are any, to their corpora.
void add_weights(std::vector<TextPair>& corpora, const std::vector<std::string>& files);

/// The same for those of --guided-alignment.
void add_links(std::vector<TextPair>& corpora, const std::vector<std::string>& files);

/// Reads both sides of several corpora, one corpus after the other, as if each side were one long file.
class ParallelReader {
 public:
  struct Invalid {
    int64_t lines = 0, first = 0;  // number of lines with invalid UTF-8, and the first of them, from 1
  };

  /// Opens all files first, so that an unreadable one is reported before anything is read. Those that are read again
  /// are opened when they are reached.
  explicit ParallelReader(const std::vector<TextPair>& corpora);

  /// The next pair; false at the end. Error, with file and line, if one side of a corpus or its weights or links end
  /// before the other, that of split_columns, and if a weight is not a number of at least 0 or a link not "0-0".
  bool next(std::array<std::string, 2>& pair);

  float weight() const { return weight_; }                    // of the last pair; 1 without a file
  LinkLine take_links() { return std::move(links_); }         // of the last pair; none without a file
  int64_t lines() const { return lines_; }                    // read so far, of each side
  const std::vector<int64_t>& ends() const { return ends_; }  // lines() at the end of each corpus read so far
  const Invalid& invalid(int side) const { return invalid_[side]; }
  double share() const;  // the part of the text that has been read, 0…1; -1: unknown, from a pipe

 private:
  struct Corpus {
    TextPair text;
    std::vector<LineReader> sides;  // one of a tsv file; none: not opened yet
    std::optional<LineReader> weights, links;
    double bytes;  // of the first one; -1: unknown
  };

  static void open(Corpus& corpus);
  bool read(Corpus& corpus, std::array<std::string, 2>& pair);
  bool read_side(Corpus& corpus, int side, std::string& line);
  bool read_columns(LineReader& reader, std::array<std::string, 2>& pair);
  void read_weight(Corpus& corpus);
  void read_links(Corpus& corpus);
  static void require_end_of_weights_and_links(Corpus& corpus);
  void count_invalid(int side);
  [[noreturn]] static void fail_unpaired(Corpus& corpus);
  [[noreturn]] static void fail_unweighted(Corpus& corpus);
  [[noreturn]] static void fail_unlinked(Corpus& corpus);

  std::vector<Corpus> corpora_;
  size_t current_ = 0;
  int64_t lines_ = 0;
  float weight_ = 1;
  LinkLine links_;
  std::vector<int64_t> ends_;
  std::array<Invalid, 2> invalid_;
};

}  // namespace dragoman
