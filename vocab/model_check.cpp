#include "vocab/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/utf8.h"
#include "vocab/charsmap.h"
#include "vocab/wire_format.h"

namespace dragoman {
namespace {

constexpr size_t most_nested = 64;  // symbols that are prefixes of one another: the size of the library's array

// If a field occurs twice, a protocol buffer keeps the last; all of them must be valid.
std::string fault_of_normalizer(std::string_view normalizer, const char* name) {
  constexpr uint64_t precompiled_charsmap = 2;
  Message fields(normalizer);
  while (const auto field = fields.next())
    if (field->id == precompiled_charsmap && !field->bytes.empty())
      if (const auto fault = fault_of_charsmap(field->bytes); !fault.empty())
        return fmt::format("the character map of its {} is broken: {}", name, fault);
  return fields.broken() ? fmt::format("its {} is cut off", name) : "";
}

std::string fault_of_text(std::string_view text, int64_t number) {
  if (!is_valid_utf8(text)) return fmt::format("piece {} is not valid UTF-8", number);
  return text.find('\0') == text.npos ? "" : fmt::format("piece {} holds a NUL", number);
}

std::string fault_of_score(std::string_view bytes, int64_t number) {
  float score = 0;
  if (bytes.size() != sizeof score) return "";  // of another type: a field that the library does not know
  std::memcpy(&score, bytes.data(), sizeof score);
  return std::isfinite(score) ? "" : fmt::format("piece {} has the score {}", number, score);
}

std::string fault_of_piece(std::string_view message, int64_t number, std::vector<std::string_view>& user_defined) {
  constexpr uint64_t text = 1, score = 2, type = 3, user_defined_type = 4;
  std::string_view written;
  bool is_user_defined = false;
  std::string fault;
  Message fields(message);
  for (std::optional<WireField> field; fault.empty() && (field = fields.next());) {
    if (field->id == text && !written.empty()) return fmt::format("piece {} appears twice", number);
    if (field->id == text) fault = fault_of_text(written = field->bytes, number);
    if (field->id == score) fault = fault_of_score(field->bytes, number);
    if (field->id == type) is_user_defined |= uint32_t(field->number) == user_defined_type;
  }
  if (is_user_defined) user_defined.push_back(written);
  return fields.broken() ? fmt::format("piece {} is cut off", number) : fault;
}

std::string fault_of_symbols(std::vector<std::string_view> symbols) {
  std::ranges::sort(symbols);
  std::vector<std::string_view> begins;  // prefixes of the next one, each a prefix of the one after it
  for (const std::string_view symbol : symbols) {
    while (!begins.empty() && !symbol.starts_with(begins.back())) begins.pop_back();
    begins.push_back(symbol);
    if (begins.size() > most_nested)
      return fmt::format("more than {} of its user-defined symbols are prefixes of one another", most_nested);
  }
  return "";
}

}  // namespace

std::string fault_of_model(std::string_view model) {
  constexpr uint64_t piece = 1, normalizer = 3, denormalizer = 5;
  std::vector<std::string_view> user_defined;
  int64_t pieces = 0;
  std::string fault;
  Message fields(model);
  while (const auto field = fields.next()) {
    if (field->id == piece) fault = fault_of_piece(field->bytes, pieces++, user_defined);
    if (field->id == normalizer) fault = fault_of_normalizer(field->bytes, "normalizer");
    if (field->id == denormalizer) fault = fault_of_normalizer(field->bytes, "denormalizer");
    if (!fault.empty()) return fault;
  }
  return fields.broken() ? "it is cut off" : fault_of_symbols(std::move(user_defined));
}

}  // namespace dragoman
