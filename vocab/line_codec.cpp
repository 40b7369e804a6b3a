#include "vocab/line_codec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/number.h"
#include "base/philox.h"
#include "base/threads.h"
#include "base/words.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

int32_t piece_number(std::string_view word, const Vocabulary& vocabulary, const std::string& where) {
  const int32_t id = parse_number<int32_t>(word).value_or(-1);
  if (id < 0 || id >= vocabulary.size())
    throw Error(
        fmt::format("{}: \"{}\" is not the id of a piece, expected 0 to {}", where, word, vocabulary.size() - 1),
        "leave --ids out if the lines hold pieces");
  return id;
}

std::string decode_numbers(const Vocabulary& vocabulary, const std::string& line, const std::string& where) {
  std::vector<int32_t> ids;
  for (const std::string_view word : split_at_blanks(line)) ids.push_back(piece_number(word, vocabulary, where));
  return vocabulary.decode(ids);
}

Lines written_pieces(const std::string& line) {
  const auto pieces = split_at_blanks(line);
  return {pieces.begin(), pieces.end()};
}

}  // namespace

std::string with_pieces(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) line.append(line.empty() ? "" : " ").append(vocabulary.piece(id));
  return line;
}

void LineCodec::encode(Lines& lines, int64_t block) const {
  const auto written = [&](const std::vector<int32_t>& ids) {
    return options_.ids ? fmt::format("{}", fmt::join(ids, " ")) : with_pieces(vocabulary_, ids);
  };
  if (options_.alpha > 0) {
    const uint64_t seed = PhiloxSequence(options_.seed, uint64_t(block)).next();
    const auto sampled = vocabulary_.encode_block(lines, options_.alpha, seed);
    for (size_t i = 0; i < sampled.size(); ++i) lines[i] = written(sampled[i]);
    return;
  }
  parallel_items(int64_t(lines.size()), [&](int64_t i, int) {
    std::string& line = lines[size_t(i)];
    line = options_.ids ? written(vocabulary_.encode(line))
                        : fmt::format("{}", fmt::join(vocabulary_.encode_pieces(line), " "));
  });
}

void LineCodec::decode(Lines& lines, const std::string& file, int64_t first) const {
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i] = options_.ids
                   ? decode_numbers(vocabulary_, lines[i], fmt::format("{}, line {}", file, first + int64_t(i)))
                   : vocabulary_.decode_pieces(written_pieces(lines[i]));
}

}  // namespace dragoman
