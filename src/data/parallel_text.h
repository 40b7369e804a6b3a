#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_reader.h"
#include "data/link_line.h"

namespace dragoman {

/// A number of each pair, or its links: a file with a line for each pair, or a column of a tsv file. Neither: none.
struct PairNotes {
  std::string path = {};
  std::optional<int> column = {};  // from 0

  bool exist() const { return column || !path.empty(); }
};

/// The files of a corpus: two files of corresponding lines, or one file of lines SOURCE tab TARGET, whose name is then
/// both paths. Files may be plain, .gz, .xz or .zst.
struct TextPair {
  std::array<std::string, 2> paths;
  bool tsv = false;
  PairNotes weights = {};  // the weight of each pair, a number
  PairNotes links = {};    // its links, such as "0-0 1-2"
  bool again = false;      // the same files as of the corpus before

  /// The columns of a tsv file, and which of them are source and target: the first two without weights or links.
  int columns() const { return 2 + weights.column.has_value() + links.column.has_value(); }
  std::array<int, 2> sides() const;
};

/// Throws Error for a file whose name says that it holds both sides: .tsv, also compressed.
void require_one_side(std::string_view option, const std::vector<std::string>& files);

/// The files of an option such as --train-sets: source, target, source, target …, or one a corpus with `tsv`. Error for
/// no files, for an odd number, for more than one of them from stdin ("-"), and without `tsv` for files that
/// require_one_side refuses.
std::vector<TextPair> text_pairs(std::string_view option, const std::vector<std::string>& files, bool tsv);

/// Their files, those of weights and links too.
std::vector<std::string> files_of(const std::vector<TextPair>& corpora);

/// The columns of `line`, the last that `reader` read from a tsv file. Error, with file and line, unless it has so many
/// columns: source and target, and those of weights and links.
std::vector<std::string_view> split_columns(const LineReader& reader, std::string_view line, int columns = 2);

/// The files of one side, in order, for people: "a.en, b.en".
std::string side_name(const std::vector<TextPair>& corpora, int side);

/// "a.en and a.de", or one name if both sides are in the same files.
std::string text_name(const std::vector<TextPair>& corpora);

/// Adds --data-weighting and --guided-alignment, if they are given, to the corpora: one file for each of them, or of
/// tsv files the number of a column.
void add_notes(std::vector<TextPair>& corpora, const std::vector<std::string>& weights,
               const std::vector<std::string>& links);

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
  /// Waits until the files, which may be pipes, have the next pair; false if stopped before that.
  bool wait(const std::stop_token& stop);

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
  bool read_columns(Corpus& corpus, std::array<std::string, 2>& pair);
  void read_weight(Corpus& corpus);
  void read_links(Corpus& corpus);
  void take_weight(std::string_view number, const LineReader& file);
  void finish(Corpus& corpus);
  static void require_end_of_weights_and_links(Corpus& corpus);
  void count_invalid(int side);
  [[noreturn]] static void fail_unpaired(Corpus& corpus);
  [[noreturn]] static void fail_unweighted(Corpus& corpus);
  [[noreturn]] static void fail_unlinked(Corpus& corpus);

  std::vector<Corpus> corpora_;
  size_t current_ = 0;
  int64_t lines_ = 0;
  std::string line_;  // of a tsv file
  float weight_ = 1;
  LinkLine links_;
  std::vector<int64_t> ends_;
  std::array<Invalid, 2> invalid_;
};

}  // namespace dragoman
