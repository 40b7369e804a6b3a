#include "decode/n_best_list.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr std::string_view bars = "|||";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(' ') + 1, text.size()));
  return text;
}

// Splits a line at the bars; spaces around the bars do not belong to a field.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t bar; (bar = line.find(bars)) != std::string_view::npos; line.remove_prefix(bar + bars.size()))
    fields.push_back(trimmed(line.substr(0, bar)));
  fields.push_back(trimmed(line));
  return fields;
}

bool are_word_scores(std::string_view field) { return field.starts_with("WordScores="); }

// As translate --alignment writes it: "0-0 1-1", weights "0.9,0.1 0.2,0.8", or nothing if no weight is large enough.
bool is_alignment(std::string_view field) {
  if (field.empty()) return true;
  return std::isdigit(static_cast<unsigned char>(field[0])) &&
         field.find_first_not_of("0123456789.,-+e ") == std::string_view::npos &&
         field.find_first_of("-,") != std::string_view::npos;
}

// "Name= number …"
bool are_features(std::string_view field) {
  const std::string_view name = field.substr(0, field.find(' '));
  return name.size() > 1 && name.find('=') == name.size() - 1 && !are_word_scores(field);
}

bool read_number(std::string_view field, int64_t& number) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc() && end == field.data() + field.size() && number >= 0;
}

}  // namespace

NBestEntry n_best_entry(std::string_view line, const std::string& where) {
  const auto fields = fields_of(line);
  NBestEntry entry;
  const auto features = std::find_if(fields.begin() + std::min<size_t>(2, fields.size()), fields.end(), are_features);
  require(features != fields.end() && read_number(fields[0], entry.line),
          "{}: expected 'number ||| translation ||| Name= value', found '{}'", where, beginning_of(line));
  auto text_end = features;
  if (are_word_scores(features[-1]) && features - fields.begin() > 2) entry.word_scores = *--text_end;
  if (is_alignment(text_end[-1]) && text_end - fields.begin() > 2) entry.alignment = *--text_end;
  entry.text = {fields[1].data(), text_end[-1].data() + text_end[-1].size()};
  entry.features = *features;
  entry.rest = {features->data() + features->size(), line.data() + line.size()};
  return entry;
}

std::optional<NBestEntry> next_entry(LineReader& list) {
  std::string line;
  if (!list.next(line)) return std::nullopt;
  return n_best_entry(line, fmt::format("{}, line {}", list.name(), list.lines()));
}

std::string to_line(const NBestEntry& e) {
  const std::string scores = e.word_scores.empty() ? "" : fmt::format(" ||| {}", e.word_scores);
  const std::string alignment = e.alignment ? fmt::format(" ||| {}", *e.alignment) : "";
  return fmt::format("{} ||| {}{}{} ||| {}{}", e.line, e.text, alignment, scores, e.features, e.rest);
}

}  // namespace dragoman
