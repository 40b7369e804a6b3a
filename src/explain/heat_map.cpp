#include "explain/heat_map.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr int label_columns = 14, heading_rows = 8;  // size of a token's label beside its row, above its column

// Lower bounds of the shades, as fractions of the scale.
constexpr std::array<std::pair<float, std::string_view>, 4> shades = {
    {{0.7f, "█"}, {0.4f, "▓"}, {0.15f, "▒"}, {0.05f, "░"}}};

// Whether a character is safe to print: terminals must not interpret a vocabulary's characters as control sequences.
std::u32string characters(std::string_view piece) {
  std::u32string characters = code_points(piece);
  for (char32_t& c : characters)
    if (utf8proc_category(int32_t(c)) == UTF8PROC_CATEGORY_CC) c = 0xFFFD;
  return characters;
}

// The first characters of a piece that fit, padded with spaces.
std::string label(std::string_view piece) {
  std::string text;
  int width = 0;
  for (const char32_t c : characters(piece)) {
    const int more = utf8proc_charwidth(int32_t(c));
    if (width + more > label_columns) break;
    append_utf8(text, c);
    width += more;
  }
  return text + std::string(size_t(label_columns - width), ' ');
}

// The tokens, written vertically so that each fits its column.
std::string heading(const std::vector<std::string>& pieces) {
  std::vector<std::u32string> columns;
  size_t rows = 0;
  for (const std::string& piece : pieces) rows = std::max(rows, columns.emplace_back(characters(piece)).size());
  std::string text;
  for (size_t row = 0; row < std::min<size_t>(rows, heading_rows); ++row) {
    text += std::string(label_columns + 1, ' ');
    for (const std::u32string& column : columns) {
      const char32_t c = row < column.size() ? column[row] : U' ';
      const int width = std::clamp(utf8proc_charwidth(int32_t(c)), 0, 2);
      append_utf8(text, c);
      text.append(size_t(2 - width), ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string cell(float weight, float scale) {
  for (const auto& [from, shade] : shades)
    if (std::abs(weight) >= from * scale) return (weight < 0 ? "-" : std::string(shade)) + std::string(shade);
  return "  ";
}

std::string row(std::span<const float> weights, const std::vector<std::string>& keys, float scale) {
  std::string text;
  for (const float w : weights) text += cell(w, scale);
  const auto most = std::ranges::max_element(weights, {}, [](float w) { return std::abs(w); });
  if (*most == 0) return text;
  return text + fmt::format("  {}{:.2g}", label(keys[size_t(most - weights.begin())]), *most);
}

float largest(const AttentionMap& map) {
  float scale = 0;
  for (const HeadMap& head : map.heads)
    for (const float w : head.weights) scale = std::max(scale, std::abs(w));
  return scale > 0 ? scale : 1;
}

std::string picture(const Explanation& e, const AttentionMap& map, const HeadMap& head, float scale) {
  const auto &queries = e.queries(map.site), &keys = e.keys(map.site);
  const bool mean = head.head == HeadMap::mean;
  std::string text = fmt::format("\nline {}, {}, {}\n{}", e.line, map.name,
                                 mean ? "mean of heads" : fmt::format("head {}", head.head), heading(keys));
  for (int64_t q = 0; q < map.queries; ++q)
    text += label(queries[size_t(q)]) + " " +
            row(std::span(head.weights).subspan(size_t(q * map.keys), size_t(map.keys)), keys, scale) + "\n";
  return text;
}

}  // namespace

std::string heat_map(const Explanation& e) {
  if (!e.missing.empty()) return fmt::format("\nline {}: {}\n", e.line, e.missing);
  std::string text;
  for (const AttentionMap& map : e.maps) {
    const float scale = e.method == AttentionMethod::raw ? 1 : largest(map);
    for (const HeadMap& head : map.heads) text += picture(e, map, head, scale);
  }
  return text;
}

std::string heat_map_legend(AttentionMethod method) {
  std::string text;
  for (auto shade = shades.rbegin(); shade != shades.rend(); ++shade)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shade->second, shade->first);
  if (method == AttentionMethod::raw) return text + " and more\n";
  text += " and more, relative to the largest weight of a layer";
  return text + (method == AttentionMethod::gradient ? "; - marks negative values\n" : "\n");
}

}  // namespace dragoman
