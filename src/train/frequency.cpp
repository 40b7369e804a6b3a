#include "train/frequency.h"

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr std::string_view unit_letters = "uetm";  // in the order of Frequency::Unit

double scale_of(char letter) {
  switch (letter) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    default:
      return 1;
  }
}

[[noreturn]] void bad(std::string_view text) {
  throw Error(fmt::format("'{}' is not a number of updates, epochs, tokens or minutes", text),
              "write 8000u (updates), 10e (epochs), 20Mt (target tokens) or 30m (minutes)");
}

}  // namespace

Frequency parse_frequency(std::string_view text) {
  double number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(rest, text.data() + text.size() - rest);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) bad(text);
  if (!unit.empty() && scale_of(unit.front()) > 1) {
    number *= scale_of(unit.front());
    unit.remove_prefix(1);
  }
  if (unit.size() > 1 || number > 9e18 || number != std::floor(number)) bad(text);
  Frequency frequency{int64_t(number), Frequency::updates};
  if (unit.empty()) return frequency;
  const auto letter = unit_letters.find(unit.front());
  if (letter == std::string_view::npos) bad(text);
  frequency.unit = Frequency::Unit(letter);
  return frequency;
}

std::string to_string(Frequency frequency) {
  static constexpr struct {
    int64_t scale;
    std::string_view letter;
  } scales[] = {{1'000'000'000, "G"}, {1'000'000, "M"}};
  const char unit = unit_letters[frequency.unit];
  for (auto [scale, letter] : scales)
    if (frequency.count > 0 && frequency.count % scale == 0)
      return fmt::format("{}{}{}", frequency.count / scale, letter, unit);
  return fmt::format("{}{}", frequency.count, unit);
}

}  // namespace dragoman
