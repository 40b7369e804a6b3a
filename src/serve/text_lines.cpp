#include "serve/text_lines.h"

#include "base/error.h"

namespace dragoman {
namespace {

constexpr std::string_view white = " \t\r\n\v\f";

}  // namespace

TextLines::TextLines(std::string_view text) {
  for (;;) {
    const size_t begin = std::min(text.find_first_not_of(white), text.size());
    between_.emplace_back(text.substr(0, begin));
    text.remove_prefix(begin);
    if (text.empty()) return;
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    sentences_.emplace_back(line.substr(0, line.find_last_not_of(white) + 1));
    text.remove_prefix(sentences_.back().size());
  }
}

std::string TextLines::assemble(std::span<const std::string> translations) const {
  invariant(translations.size() == sentences_.size(), "a translation for each sentence");
  std::string text;
  for (size_t i = 0; i < translations.size(); ++i) text.append(between_[i]).append(translations[i]);
  return text + between_.back();
}

}  // namespace dragoman
