#include "options/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "base/error.h"
#include "base/words.h"
#include "options/suggest.h"

namespace dragoman {
namespace {

// Error for a number that is not written as expected: 16.0, 1e2 or +16 in place of 16.
template <class T>
void refuse_form(const std::string& word, Bounds bounds) {
  const char *begin = word.data() + word.starts_with('+'), *end = word.data() + word.size();
  double number = 0;
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || rest != end || !std::isfinite(number)) return;
  if (std::is_unsigned_v<T> && number < 0) return;
  if (std::is_integral_v<T> && number != std::floor(number)) return;
  require(bounds.contain(number), "{} is out of range, expected {}", word, to_text(bounds));
  constexpr double exact = int64_t{1} << 53;  // of larger ones, digits are lost
  require(std::abs(number) <= exact, "'{}' is not in the expected form, digits only", word);
  fail("'{}' is not in the expected form, {}", word,
       std::is_integral_v<T> ? fmt::format("{:.0f}", number + 0.0) : std::string(begin, end));
}

template <class T>
void read_number(T& value, const std::string& word, Bounds bounds, std::string_view kind) {
  const char* end = word.data() + word.size();
  T number{};
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  require(error != std::errc::result_out_of_range, "{} is out of range, expected {}", word, to_text(bounds));
  if (error != std::errc{} || rest != end) refuse_form<T>(word, bounds);
  require(error == std::errc{} && rest == end && std::isfinite(double(number)), "'{}' is not {}", word, kind);
  require(bounds.contain(double(number)), "{} is out of range, expected {}", word, to_text(bounds));
  value = number;
}

}  // namespace

void read_word(std::string& value, const std::string& word, Bounds) { value = word; }

std::optional<bool> switch_word(const std::string& word) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> spellings) {
    return std::ranges::find(spellings, word) != spellings.end();
  };
  if (is_one_of({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return false;
  return {};
}

void read_word(bool& value, const std::string& word, Bounds) {
  const std::optional<bool> read = switch_word(word);
  require(read.has_value(), "'{}' is neither true nor false", word);
  value = *read;
}

void read_word(int& value, const std::string& word, Bounds bounds) {
  read_number(value, word, bounds, "a whole number");
}
void read_word(int64_t& value, const std::string& word, Bounds bounds) {
  read_number(value, word, bounds, "a whole number");
}
void read_word(uint64_t& value, const std::string& word, Bounds bounds) {
  read_number(value, word, bounds, "a whole number of at least 0");
}
void read_word(double& value, const std::string& word, Bounds bounds) { read_number(value, word, bounds, "a number"); }
void read_word(Frequency& value, const std::string& word, Bounds) { value = parse_frequency(word); }
void read_word(MemorySize& value, const std::string& word, Bounds) { value = parse_memory_size(word); }
void read_word(AlignmentStyle& value, const std::string& word, Bounds) { value = parse_alignment_style(word); }

std::string show_word(const std::string& value) { return value; }
std::string show_word(bool value) { return value ? "true" : "false"; }
std::string show_word(int value) { return std::to_string(value); }
std::string show_word(int64_t value) { return std::to_string(value); }
std::string show_word(uint64_t value) { return std::to_string(value); }
std::string show_word(double value) { return fmt::format("{}", value); }
std::string show_word(Frequency value) { return to_string(value); }
std::string show_word(MemorySize value) { return to_string(value); }
std::string show_word(const AlignmentStyle& value) { return to_string(value); }

void fail_choice(const std::string& word, const std::string& choices) {
  Strings names;
  for (const std::string& name : split_at_commas({choices})) names.push_back(name.substr(name.find_first_not_of(' ')));
  throw Error(fmt::format("'{}' is not one of {}", word, choices), did_you_mean(word, names));
}

Strings split_at_commas(const Strings& words) {
  Strings parts;
  for (const std::string& word : words)
    for (const std::string_view part : split_at(word, ",")) parts.emplace_back(part);
  return parts;
}

}  // namespace dragoman
