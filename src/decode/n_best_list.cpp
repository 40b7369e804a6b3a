#include "decode/n_best_list.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"
#include "base/number.h"
#include "base/utf8.h"
#include "base/words.h"

namespace dragoman {
namespace {

constexpr std::string_view bars = "|||";

// Splits a line at the bars; spaces around the bars do not belong to a field.
std::vector<std::string_view> fields_of(std::string_view line) {
  auto fields = split_at(line, bars);
  for (std::string_view& field : fields) field = trimmed(field);
  return fields;
}

constexpr std::string_view word_scores_name = "WordScores=";  // as in Marian

bool are_word_scores(std::string_view field) { return field.starts_with(word_scores_name); }

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

}  // namespace

std::string word_scores_field(std::span<const float> log_probs) {
  std::string field(word_scores_name);
  for (const float log_prob : log_probs) field += fmt::format(" {:.5f}", log_prob);
  return field;
}

NBestEntry n_best_entry(std::string_view line, const std::string& where) {
  const auto fields = fields_of(line);
  NBestEntry entry;
  const auto features = std::find_if(fields.begin() + std::min<size_t>(2, fields.size()), fields.end(), are_features);
  entry.line = parse_number<int64_t>(fields[0]).value_or(-1);
  require(features != fields.end() && entry.line >= 0,
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
