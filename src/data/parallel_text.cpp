#include "data/parallel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/grouped.h"
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

void add_weights(std::vector<TextPair>& corpora, const std::vector<std::string>& files) {
  if (files.empty()) return;
  require(files.size() == corpora.size(),
          "--data-weighting names {} files, --train-sets {} corpora, expected one for each", files.size(),
          corpora.size());
  for (size_t i = 0; i < files.size(); ++i) corpora[i].weights = files[i];
}

void add_links(std::vector<TextPair>& corpora, const std::vector<std::string>& files) {
  if (files.empty()) return;
  require(files.size() == corpora.size(),
          "--guided-alignment names {} files, --train-sets {} corpora, expected one for each", files.size(),
          corpora.size());
  for (size_t i = 0; i < files.size(); ++i) corpora[i].links = files[i];
}

void split_columns(const LineReader& reader, std::array<std::string, 2>& pair) {
  std::string& line = pair[0];
  const auto tabs = std::ranges::count(line, '\t');
  if (tabs != 1)
    throw Error(fmt::format("{}, line {}: has {} {}, expected one, between source and target", reader.name(),
                            grouped(reader.lines()), tabs == 0 ? "no" : grouped(tabs), tabs == 0 ? "tab" : "tabs"),
                tabs == 0 ? "--tsv is for files that hold both sides; give two files without it"
                          : "cut -f 1,2 keeps the first two columns");
  const size_t tab = line.find('\t');
  pair[1] = line.substr(tab + 1);
  line.resize(tab);
}

std::string side_name(const std::vector<TextPair>& corpora, int side) {
  std::string names;
  for (const TextPair& corpus : corpora)
    if (!corpus.again) names += (names.empty() ? "" : ", ") + corpus.paths[side];
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
  if (!text.weights.empty()) corpus.weights.emplace(text.weights);
  if (!text.links.empty()) corpus.links.emplace(text.links);
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
    require_end_of_weights_and_links(corpus);
    ends_.push_back(lines_);
  }
  return false;
}

bool ParallelReader::read(Corpus& corpus, std::array<std::string, 2>& pair) {
  if (corpus.text.tsv) return read_columns(corpus.sides[0], pair);
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

bool ParallelReader::read_columns(LineReader& reader, std::array<std::string, 2>& pair) {
  const int64_t invalid = reader.invalid_lines();
  if (!reader.next(pair[0])) return false;
  split_columns(reader, pair);
  if (reader.invalid_lines() == invalid) return true;
  for (const int side : {0, 1})
    if (pair[side].find(replacement_character) != std::string::npos) count_invalid(side);
  return true;
}

void ParallelReader::read_weight(Corpus& corpus) {
  if (!corpus.weights) {
    weight_ = 1;
    return;
  }
  std::string line;
  LineReader& file = *corpus.weights;
  if (!file.next(line)) fail_unweighted(corpus);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), weight_);
  const bool number = error == std::errc{} && end == line.data() + line.size() && std::isfinite(weight_);
  require(number && weight_ >= 0, "{}, line {}: '{}' is not a weight, expected 0 or a number from 1e-37 to 1e38",
          file.name(), grouped(file.lines()), line);
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
  std::string line;
  for (LineReader* file : {&*corpus.links, &corpus.sides[0]})
    while (file->next(line)) {}
  fail("{} has {} lines, {} has {}; --guided-alignment needs a line of links for each", corpus.links->name(),
       grouped(corpus.links->lines()), corpus.sides[0].name(), grouped(corpus.sides[0].lines()));
}

void ParallelReader::fail_unweighted(Corpus& corpus) {
  std::string line;
  for (LineReader* file : {&*corpus.weights, &corpus.sides[0]})
    while (file->next(line)) {}
  fail("{} has {} lines, {} has {}; --data-weighting needs one weight per line", corpus.weights->name(),
       grouped(corpus.weights->lines()), corpus.sides[0].name(), grouped(corpus.sides[0].lines()));
}

void ParallelReader::count_invalid(int side) {
  if (invalid_[side].lines++ == 0) invalid_[side].first = lines_ + 1;
}

// Reads both files again to find the line without a partner; a pipe can only be counted.
void ParallelReader::fail_unpaired(Corpus& corpus) {
  const auto& paths = corpus.text.paths;
  if (bytes_of(paths[0]) >= 0 && bytes_of(paths[1]) >= 0)
    require_paired(paths, {line_lengths(paths[0]), line_lengths(paths[1])});
  std::string line;
  for (LineReader& side : corpus.sides)
    while (side.next(line)) {}
  fail("{} has {} lines, {} has {}, expected the same number", corpus.sides[0].name(), grouped(corpus.sides[0].lines()),
       corpus.sides[1].name(), grouped(corpus.sides[1].lines()));
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
