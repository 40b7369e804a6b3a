#include "data/parallel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/grouped.h"
#include "base/number.h"
#include "base/words.h"
#include "data/pairs.h"

namespace dragoman {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";  // U+FFFD, what LineReader puts for bad bytes

// -1: unknown, as for a pipe.
double bytes_of(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return -1;
  const auto bytes = std::filesystem::file_size(path, failed);
  return failed ? -1 : double(bytes);
}

std::vector<int32_t> line_lengths(const std::string& path) {
  std::vector<int32_t> lengths;
  LineReader reader(path);
  for (std::string line; reader.next(line);) lengths.push_back(int32_t(line.size()));
  return lengths;
}

// The number of lines, for a message. Those that a pipe still has may never come.
std::string lines_in(LineReader& file) {
  std::string line;
  if (file.is_regular())
    while (file.next(line)) {}
  return (file.ready() && file.ended() ? "" : "at least ") + grouped(file.lines());
}

// The number of a column, if that is what is given in the place of files.
std::optional<int> column_in(const std::vector<TextPair>& corpora, const std::vector<std::string>& files) {
  constexpr size_t most_digits = 3;
  if (!corpora.front().tsv || files.size() != 1 || files[0].empty() || files[0].size() > most_digits ||
      files[0].find_first_not_of("0123456789") != std::string::npos)
    return {};
  return std::stoi(files[0]);
}

void add_notes(std::vector<TextPair>& corpora, std::string_view option, const std::vector<std::string>& files,
               PairNotes TextPair::*notes) {
  if (files.empty()) return;
  if (const auto column = column_in(corpora, files)) {
    for (TextPair& corpus : corpora) corpus.*notes = {.column = column};
    return;
  }
  require(files.size() == corpora.size(), "--{} names {} files, --train-sets {} corpora, expected one for each", option,
          files.size(), corpora.size());
  for (size_t i = 0; i < files.size(); ++i) corpora[i].*notes = {.path = files[i]};
}

}  // namespace

void require_one_side(std::string_view option, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::string_view name = file;
    for (const std::string_view ending : {".gz", ".xz", ".zst"})
      if (name.ends_with(ending)) name.remove_suffix(ending.size());
    if (name.ends_with(".tsv"))
      throw Error(
          fmt::format("--{}: {} contains both sides, according to its name, expected one file per side", option, file),
          "add --tsv to read both sides from each file, or rename a file that contains one side");
  }
}

std::vector<TextPair> text_pairs(std::string_view option, const std::vector<std::string>& files, bool tsv) {
  require(!files.empty(), "--{} names no files", option);
  if (!tsv && files.size() % 2 != 0)
    throw Error(fmt::format("--{} takes two files for each corpus, source and target, found {}: {}", option,
                            files.size(), fmt::join(files, " ")),
                "--tsv is for files that hold both sides");
  if (!tsv) require_one_side(option, files);
  require(std::ranges::count(files, "-") < 2, "--{} {}: only one file can come from stdin", option,
          fmt::join(files, " "));
  std::vector<TextPair> corpora;
  for (size_t i = 0; i < files.size(); i += tsv ? 1 : 2) corpora.push_back({{files[i], files[i + !tsv]}, tsv});
  return corpora;
}

std::vector<std::string> files_of(const std::vector<TextPair>& corpora) {
  std::vector<std::string> files;
  for (const TextPair& text : corpora)
    for (const std::string& path : {text.paths[0], text.paths[1], text.weights.path, text.links.path})
      if (!path.empty() && std::ranges::count(files, path) == 0) files.push_back(path);
  return files;
}

std::array<int, 2> TextPair::sides() const {
  std::array<int, 2> sides{};
  for (int side = 0, column = 0; side < 2; ++column)
    if (column != weights.column && column != links.column) sides[size_t(side++)] = column;
  return sides;
}

void add_notes(std::vector<TextPair>& corpora, const std::vector<std::string>& weights,
               const std::vector<std::string>& links) {
  add_notes(corpora, "data-weighting", weights, &TextPair::weights);
  add_notes(corpora, "guided-alignment", links, &TextPair::links);
  const TextPair& first = corpora.front();
  for (const auto& [option, notes] :
       {std::pair("data-weighting", first.weights), std::pair("guided-alignment", first.links)})
    require(!notes.column || *notes.column < first.columns(),
            "--{} {}: with --tsv, a number is a column, counted from 0, and a line has {} columns: source, target and "
            "those that such options name",
            option, notes.column.value_or(0), first.columns());
  require(!first.weights.column || first.weights.column != first.links.column,
          "--data-weighting {} and --guided-alignment {} are the same column of --tsv",
          first.weights.column.value_or(0), first.links.column.value_or(0));
}

std::vector<std::string_view> split_columns(const LineReader& reader, std::string_view line, int columns) {
  const auto tabs = std::ranges::count(line, '\t');
  if (tabs != columns - 1) {
    const std::string wanted =
        columns == 2 ? "one, between source and target"
                     : fmt::format("{}, between source, target and the columns of other options", columns - 1);
    const char* hint = tabs == 0      ? "--tsv is for files that hold both sides; give two files without it"
                       : columns == 2 ? "cut -f 1,2 keeps the first two columns"
                                      : "";
    throw Error(fmt::format("{}, line {}: has {} {}, expected {}", reader.name(), grouped(reader.lines()),
                            tabs == 0 ? "no" : grouped(tabs), tabs < 2 ? "tab" : "tabs", wanted),
                hint);
  }
  return split_at(line, "\t");
}

std::string side_name(const std::vector<TextPair>& corpora, int side) {
  std::string names;
  for (const TextPair& corpus : corpora)
    if (!corpus.again)
      names += (names.empty() ? "" : ", ") + (corpus.paths[side] == "-" ? "stdin" : corpus.paths[side]);
  return names;
}

std::string text_name(const std::vector<TextPair>& corpora) {
  const std::string source = side_name(corpora, 0), target = side_name(corpora, 1);
  return source == target ? source : source + " and " + target;
}

ParallelReader::ParallelReader(const std::vector<TextPair>& corpora) {
  for (const TextPair& text : corpora) {
    Corpus corpus{text, {}, {}, {}, bytes_of(text.paths[0])};
    if (!text.again) open(corpus);
    corpora_.push_back(std::move(corpus));
  }
}

void ParallelReader::open(Corpus& corpus) {
  const TextPair& text = corpus.text;
  corpus.sides.emplace_back(text.paths[0]);
  if (!text.tsv) corpus.sides.emplace_back(text.paths[1]);
  if (!text.weights.path.empty()) corpus.weights.emplace(text.weights.path, "one weight per line");
  if (!text.links.path.empty()) corpus.links.emplace(text.links.path, "links, such as 0-0 1-2, in each line");
}

bool ParallelReader::next(std::array<std::string, 2>& pair) {
  for (; current_ < corpora_.size(); ++current_) {
    Corpus& corpus = corpora_[current_];
    if (corpus.sides.empty()) open(corpus);
    if (read(corpus, pair)) {
      read_weight(corpus);
      read_links(corpus);
      ++lines_;
      return true;
    }
    finish(corpus);
  }
  return false;
}

void ParallelReader::finish(Corpus& corpus) {
  std::string none;
  for (LineReader& side : corpus.sides) side.next(none);  // says how many lines were not valid UTF-8
  require_end_of_weights_and_links(corpus);
  ends_.push_back(lines_);
}

bool ParallelReader::wait(const std::stop_token& stop) {
  const auto has_line = [&](LineReader& file) { return file.wait(stop); };
  for (; current_ < corpora_.size(); ++current_) {
    Corpus& corpus = corpora_[current_];
    if (corpus.sides.empty()) open(corpus);
    if (!std::ranges::all_of(corpus.sides, has_line) || (corpus.weights && !has_line(*corpus.weights)) ||
        (corpus.links && !has_line(*corpus.links)))
      return false;
    if (!std::ranges::all_of(corpus.sides, &LineReader::ended)) return true;
    finish(corpus);
  }
  return true;
}

bool ParallelReader::read(Corpus& corpus, std::array<std::string, 2>& pair) {
  if (corpus.text.tsv) return read_columns(corpus, pair);
  const bool source = read_side(corpus, 0, pair[0]), target = read_side(corpus, 1, pair[1]);
  if (source != target) fail_unpaired(corpus);
  return source;
}

bool ParallelReader::read_side(Corpus& corpus, int side, std::string& line) {
  LineReader& reader = corpus.sides[side];
  const int64_t invalid = reader.invalid_lines();
  if (!reader.next(line)) return false;
  if (reader.invalid_lines() > invalid) count_invalid(side);
  return true;
}

bool ParallelReader::read_columns(Corpus& corpus, std::array<std::string, 2>& pair) {
  LineReader& reader = corpus.sides[0];
  const int64_t invalid = reader.invalid_lines();
  if (!reader.next(line_)) return false;
  const TextPair& text = corpus.text;
  const std::vector<std::string_view> columns = split_columns(reader, line_, text.columns());
  for (const int side : {0, 1}) pair[side] = columns[size_t(text.sides()[side])];
  if (text.weights.column) take_weight(columns[size_t(*text.weights.column)], reader);
  if (text.links.column) links_ = parse_links(columns[size_t(*text.links.column)], reader);
  if (reader.invalid_lines() == invalid) return true;
  for (const int side : {0, 1})
    if (pair[side].find(replacement_character) != std::string::npos) count_invalid(side);
  return true;
}

void ParallelReader::read_weight(Corpus& corpus) {
  if (!corpus.weights) {
    if (!corpus.text.weights.column) weight_ = 1;
    return;
  }
  std::string line;
  if (!corpus.weights->next(line)) fail_unweighted(corpus);
  take_weight(line, *corpus.weights);
}

void ParallelReader::take_weight(std::string_view text, const LineReader& file) {
  constexpr float most = 1e25F;  // losses and gradients of ten million tokens have sums that float32 can hold
  weight_ = parse_number<float>(trimmed(text, " \t")).value_or(-1);
  require(weight_ >= 0 && weight_ <= most,
          "{}, line {}: '{}' is not a weight, expected 0 or a number from 1e-37 to 1e25", file.name(),
          grouped(file.lines()), text);
}

void ParallelReader::read_links(Corpus& corpus) {
  if (!corpus.links) return;
  std::string line;
  if (!corpus.links->next(line)) fail_unlinked(corpus);
  links_ = parse_links(line, *corpus.links);
}

void ParallelReader::require_end_of_weights_and_links(Corpus& corpus) {
  std::string line;
  if (corpus.weights && corpus.weights->next(line)) fail_unweighted(corpus);
  if (corpus.links && corpus.links->next(line)) fail_unlinked(corpus);
}

void ParallelReader::fail_unlinked(Corpus& corpus) {
  fail("{} has {} lines, {} has {}; --guided-alignment needs a line of links for each", corpus.links->name(),
       lines_in(*corpus.links), corpus.sides[0].name(), lines_in(corpus.sides[0]));
}

void ParallelReader::fail_unweighted(Corpus& corpus) {
  fail("{} has {} lines, {} has {}; --data-weighting needs one weight per line", corpus.weights->name(),
       lines_in(*corpus.weights), corpus.sides[0].name(), lines_in(corpus.sides[0]));
}

void ParallelReader::count_invalid(int side) {
  if (invalid_[side].lines++ == 0) invalid_[side].first = lines_ + 1;
}

// Reads both files again to find the line without a partner.
void ParallelReader::fail_unpaired(Corpus& corpus) {
  const auto& paths = corpus.text.paths;
  if (bytes_of(paths[0]) >= 0 && bytes_of(paths[1]) >= 0)
    require_paired(paths, {line_lengths(paths[0]), line_lengths(paths[1])});
  fail("{} has {} lines, {} has {}, expected the same number", corpus.sides[0].name(), lines_in(corpus.sides[0]),
       corpus.sides[1].name(), lines_in(corpus.sides[1]));
}

double ParallelReader::share() const {
  double read = 0, all = 0;
  for (const Corpus& corpus : corpora_) {
    if (corpus.bytes < 0) return -1;
    all += corpus.bytes;
    if (corpus.bytes > 0 && !corpus.sides.empty()) read += corpus.bytes * corpus.sides[0].share();
  }
  return all > 0 ? read / all : -1;
}

}  // namespace dragoman
