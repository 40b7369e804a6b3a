#include "interop/marian_shortlist.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/words.h"

namespace dragoman {
namespace {

constexpr uint64_t shortlist_magic = 0xF11A48D5013417F5;
constexpr const char* make_again =
    "write it again with marian-conv, or with dragoman align --model MODEL --shortlist FILE";

struct ShortlistHeader {
  uint64_t magic, checksum, first, best, begins, pieces;
};

// Marian's checksum covers the file after the checksum, in 64-bit words; a half word at the end is ignored.
uint64_t checksum_of(std::span<const std::byte> file) {
  uint64_t hash = 0;
  for (size_t at = 2 * sizeof(uint64_t); at + sizeof(uint64_t) <= file.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, file.data() + at, sizeof(word));
    hash ^= word + 0x9e3779b9 + (hash << 6) + (hash >> 2);
  }
  return hash;
}

void require_size(const ShortlistHeader& h, uint64_t bytes, const std::string& path) {
  const bool possible = h.begins <= bytes && h.pieces <= bytes;  // prevents overflow below
  const uint64_t expected =
      possible ? sizeof(ShortlistHeader) + h.begins * sizeof(uint64_t) + h.pieces * sizeof(uint32_t) : uint64_t{0};
  if (possible && expected == bytes) return;
  throw Error(fmt::format("{} is a damaged Marian shortlist: it has {} bytes, but its header announces {} source "
                          "pieces and {} translations",
                          path, bytes, h.begins == 0 ? 0 : h.begins - 1, h.pieces),
              "copy or download it again");
}

ShortlistHeader header_of(std::span<const std::byte> file, const std::string& path) {
  if (file.size() < sizeof(ShortlistHeader))
    throw Error(fmt::format("{} is a damaged Marian shortlist: it has {} bytes, expected {} or more", path, file.size(),
                            sizeof(ShortlistHeader)),
                "copy or download it again");
  ShortlistHeader h;
  std::memcpy(&h, file.data(), sizeof(h));
  require(h.magic == shortlist_magic, "{} is not a binary Marian shortlist", path);
  require_size(h, file.size(), path);
  if (const uint64_t found = checksum_of(file); found != h.checksum)
    throw Error(fmt::format("{} is a damaged Marian shortlist: the content has the checksum {:016x}, expected {:016x}",
                            path, found, h.checksum),
                "copy or download it again");
  return h;
}

void require_source(const ShortlistHeader& h, const Vocabulary& source, const std::string& path) {
  if (h.begins == uint64_t(source.size()) + 1) return;
  throw Error(fmt::format("{} was made for {} source pieces, and the model has {}", path,
                          h.begins == 0 ? 0 : h.begins - 1, source.size()),
              "give the shortlist that was made for this model");
}

std::vector<int32_t> begins_of(std::span<const std::byte> data, const ShortlistHeader& h, const std::string& path) {
  std::vector<uint64_t> offsets(h.begins);
  std::memcpy(offsets.data(), data.data(), data.size());
  if (offsets.front() != 0 || offsets.back() != h.pieces || !std::ranges::is_sorted(offsets) ||
      h.pieces > uint64_t(std::numeric_limits<int32_t>::max() / 2))
    throw Error(fmt::format("{}: the offsets of source pieces do not divide its {} translations", path, h.pieces),
                make_again);
  return {offsets.begin(), offsets.end()};
}

std::vector<int32_t> pieces_of(std::span<const std::byte> data, const Vocabulary& target, const std::string& path) {
  if (data.empty()) return {};  // the first pieces may suffice
  std::vector<uint32_t> ids(data.size() / sizeof(uint32_t));
  std::memcpy(ids.data(), data.data(), data.size());
  const auto wrong = std::ranges::find_if(ids, [&](uint32_t id) { return id >= uint32_t(target.size()); });
  if (wrong != ids.end())
    throw Error(
        fmt::format("{} lists target piece {}, and the model has pieces 0 to {}", path, *wrong, target.size() - 1),
        "give the shortlist that was made for this model");
  return {ids.begin(), ids.end()};
}

// In Marian, every source sentence contains </s>, so the translations of </s> are always allowed; our sentences do not
// contain it. A translation can always end. Pieces of a shared vocabulary translate to themselves.
Shortlist completed(const Shortlist& listed, uint64_t first, const Vocabulary& source, const Vocabulary& target) {
  Shortlist s{.begins = {0}, .target_vocabulary = target.size()};
  s.first.resize(size_t(std::min(first, uint64_t(target.size()))));
  std::iota(s.first.begin(), s.first.end(), 0);
  s.first.push_back(target.eos());
  const bool shared = source.bytes() == target.bytes();
  for (int32_t piece = 0; piece < source.size(); ++piece) {
    const auto from = listed.best.begin() + listed.begins[piece], to = listed.best.begin() + listed.begins[piece + 1];
    s.best.insert(s.best.end(), from, to);
    if (shared) s.best.push_back(piece);
    s.begins.push_back(int32_t(s.best.size()));
    if (piece == source.eos()) s.first.insert(s.first.end(), from, to);
  }
  std::ranges::sort(s.first);
  s.first.erase(std::ranges::unique(s.first).begin(), s.first.end());
  return s;
}

struct Translation {
  int32_t source, target;
  float probability;
};

std::optional<float> probability_of(std::string_view word) {
  double value = 0;  // tables have numbers that no float can hold
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool tiny = error == std::errc::result_out_of_range && word.find("e-") != word.npos;
  if ((error != std::errc{} && !tiny) || end != word.data() + word.size()) return std::nullopt;
  return value >= 0 && std::isfinite(value) ? std::optional(tiny ? 0.0F : float(value)) : std::nullopt;
}

std::vector<Translation> read_table(const std::string& path, const Vocabulary& source, const Vocabulary& target) {
  std::vector<Translation> table;
  bool known = false;
  LineReader lines(path, "'target source probability' in each line, or a file of dragoman align --shortlist or Marian");
  for (std::string line; lines.next(line);) {
    const auto fields = split_at_blanks(line, " \t");
    if (fields.empty()) continue;
    const auto probability = fields.size() == 3 ? probability_of(fields[2]) : std::nullopt;
    if (!probability)
      throw Error(fmt::format("{}: line {} is not 'target source probability'", path, lines.lines()),
                  "--shortlist takes what dragoman align --shortlist writes, or a Marian shortlist");
    if (fields[0] == "NULL" || fields[1] == "NULL") continue;
    const auto from = source.find(fields[1]), to = target.find(fields[0]);
    known = known || (to && from);
    table.push_back({from.value_or(source.unk()), to.value_or(target.unk()), *probability});
  }
  if (!known)
    throw Error(path + ": no line has pieces of both vocabularies of the model",
                "the lines are 'target source probability', of text that is split into the model's pieces");
  return table;
}

// If several lines have the same two pieces, the last one counts.
void keep_last(std::vector<Translation>& table) {
  const auto pieces = [](const Translation& t) { return std::pair(t.source, t.target); };
  std::ranges::reverse(table);
  std::ranges::stable_sort(table, {}, pieces);
  table.erase(std::ranges::unique(table, {}, pieces).begin(), table.end());
}

}  // namespace

bool is_marian_shortlist(std::string_view begin) {
  return begin.size() >= sizeof(shortlist_magic) &&
         std::memcmp(begin.data(), &shortlist_magic, sizeof(shortlist_magic)) == 0;
}

Shortlist read_marian_shortlist(const std::string& path, const Vocabulary& source, const Vocabulary& target) {
  const MappedFile file(path);
  const ShortlistHeader h = header_of(file.bytes(), path);
  require_source(h, source, path);
  const auto offsets = file.bytes().subspan(sizeof(ShortlistHeader), size_t(h.begins) * sizeof(uint64_t));
  const auto ids = file.bytes().subspan(sizeof(ShortlistHeader) + offsets.size());
  return completed({.begins = begins_of(offsets, h, path), .best = pieces_of(ids, target, path)}, h.first, source,
                   target);
}

Shortlist read_lexical_table(const std::string& path, const ShortlistLimits& limits, const Vocabulary& source,
                             const Vocabulary& target) {
  std::vector<Translation> table = read_table(path, source, target);
  keep_last(table);
  std::erase_if(table, [&](const Translation& t) { return !(t.probability > limits.threshold); });
  std::ranges::sort(table, {}, [](const Translation& t) { return std::tuple(t.source, -t.probability, -t.target); });
  Shortlist listed{.begins = {0}};
  auto next = table.begin();
  for (int32_t piece = 0; piece < source.size(); ++piece) {
    for (int taken = 0; next != table.end() && next->source == piece; ++next, ++taken)
      if (taken < limits.best) listed.best.push_back(next->target);
    listed.begins.push_back(int32_t(listed.best.size()));
  }
  return completed(listed, uint64_t(limits.first), source, target);
}

}  // namespace dragoman
