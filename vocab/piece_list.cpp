#include "vocab/piece_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/number.h"
#include "base/utf8.h"
#include "vocab/yaml_line.h"

namespace dragoman {
namespace {

struct Entry {
  int64_t id;
  std::string piece;
};

// By id. `filled` replace those of the first ids that no piece has.
std::vector<std::string> in_order(std::vector<Entry> entries, const std::string& name,
                                  const std::vector<std::string>& filled = {}) {
  std::ranges::stable_sort(entries, {}, &Entry::id);
  std::vector<std::string> pieces;
  pieces.reserve(entries.size() + filled.size());
  for (Entry& entry : entries) {
    while (int64_t(pieces.size()) < entry.id && pieces.size() < filled.size()) pieces.push_back(filled[pieces.size()]);
    const auto next = int64_t(pieces.size());
    require(entry.id >= 0, "{}: \"{}\" has id {}, expected 0 or more", name, entry.piece, entry.id);
    require(entry.id >= next, "{}: id {} appears twice: \"{}\" and \"{}\"", name, entry.id, pieces.back(), entry.piece);
    require(entry.id == next, "{}: no piece has id {}, expected all from 0 to {}", name, next, entries.back().id);
    pieces.push_back(std::move(entry.piece));
  }
  require(!pieces.empty(), "{} contains no pieces, expected a list of them", name);
  return pieces;
}

// Calls f(line, number), numbers from 1.
template <class F>
void for_lines(std::string_view text, F f) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    f(line.ends_with('\r') ? line.substr(0, end - 1) : line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// For messages about a file that may be of any kind.
std::string printable(std::string_view line) {
  std::string text = beginning_of(line);
  clean_utf8(text);
  std::ranges::replace_if(
      text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return text;
}

bool is_number(std::string_view text) { return parse_number<int64_t>(text).has_value(); }

std::vector<Entry> json_entries(std::string_view text, const std::string& name) {
  const auto list = nlohmann::json::parse(text, nullptr, false);
  require(list.is_object(), "{} is not a JSON object that maps pieces to ids", name);
  std::vector<Entry> entries;
  for (const auto& [piece, id] : list.items()) {
    require(id.is_number_integer(), "{}: the id of \"{}\" is not a whole number", name, piece);
    entries.push_back({id.get<int64_t>(), piece});
  }
  return entries;
}

std::vector<Entry> yaml_entries(std::string_view text, const std::string& name) {
  std::vector<Entry> entries;
  for_lines(text, [&](std::string_view line, int64_t number) {
    if (line.empty() || line.starts_with('#') || line == "---" || line == "...") return;
    auto entry = parse_yaml_line(line);
    if (!entry)
      throw Error(
          fmt::format("{}, line {}: \"{}\", expected PIECE: ID", name, number, printable(line)),
          "a .yml file must be a list of pieces, as Marian writes them; give a SentencePiece model another extension");
    entries.push_back({entry->id, std::move(entry->piece)});
  });
  return entries;
}

bool listed(const std::vector<std::string>& pieces, const char* piece) { return std::ranges::count(pieces, piece) > 0; }

}  // namespace

std::vector<std::string> pieces_of_yaml(std::string_view text, const std::string& name) {
  return in_order(text.starts_with('{') ? json_entries(text, name) : yaml_entries(text, name), name, {"</s>", "<unk>"});
}

std::vector<std::string> pieces_of_json(std::string_view text, const std::string& name) {
  return in_order(json_entries(text, name), name);
}

std::vector<std::string> pieces_of_lines(std::string_view text, const std::string& name) {
  std::vector<std::string> pieces;
  for_lines(text, [&](std::string_view line, int64_t number) {
    require(!line.empty(), "{}, line {}: it is empty, expected a piece", name, number);
    pieces.emplace_back(line);
  });
  require(!pieces.empty(), "{} contains no pieces, expected a list of them", name);
  return pieces;
}

std::vector<std::string> pieces_of_fairseq(std::string_view text, const std::string& name) {
  std::vector<std::string> pieces{"<s>", "<pad>", "</s>", "<unk>"};
  for_lines(text, [&](std::string_view line, int64_t number) {
    const size_t blank = line.rfind(' ');
    const bool counted = blank != line.npos && blank > 0 && is_number(line.substr(blank + 1));
    require(counted, "{}, line {}: \"{}\", expected PIECE COUNT", name, number, printable(line));
    pieces.emplace_back(line.substr(0, blank));
  });
  return pieces;
}

SpecialPieces marian_special(const std::vector<std::string>& pieces) {
  const auto id_of = [&](const char* piece, size_t usual, const char* old) {
    if (usual < pieces.size() && pieces[usual] == old) return int32_t(usual);
    const auto found = std::ranges::find(pieces, piece);
    return int32_t(found == pieces.end() ? usual : size_t(found - pieces.begin()));
  };
  return {.unk = id_of("<unk>", 1, "UNK"), .eos = id_of("</s>", 0, "eos")};
}

bool is_piece_list(std::string_view path) {
  return path.ends_with(".yml") || path.ends_with(".yaml") || path.ends_with(".json") || path.ends_with(".txt");
}

std::string file_of_pieces(const std::vector<std::string>& pieces, std::string_view path) {
  const bool plain = path.ends_with(".txt"), json = path.ends_with(".json");
  std::string text = json ? "{\n" : "";
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (plain)
      text += pieces[id];
    else
      text += fmt::format("{}: {}", nlohmann::json(pieces[id]).dump(), id);
    text += json && id + 1 < pieces.size() ? ",\n" : "\n";
  }
  return json ? text + "}\n" : text;
}

std::vector<std::string> pieces_of_file(std::string_view text, const std::string& path) {
  if (path.ends_with(".json")) return pieces_of_json(text, path);
  if (!path.ends_with(".txt")) return pieces_of_yaml(text, path);
  auto pieces = pieces_of_lines(text, path);
  for (const char* piece : {"</s>", "<unk>"})
    if (!listed(pieces, piece))
      throw Error(fmt::format("{} has no line {}, which a vocabulary needs", path, piece),
                  "a vocabulary in text has one piece per line; Marian's begin with </s> and <unk>");
  return pieces;
}

}  // namespace dragoman
