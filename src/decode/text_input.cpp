#include "decode/text_input.h"

namespace dragoman {

bool TextInput::next(std::string& text, bool& more) {
  if (!options_.has_fields()) return lines_.next_segment(text, longest_chunk, more);
  more = false;
  return lines_.next(text);
}

std::vector<std::string> TextInput::next_line() {
  std::vector<std::string> chunks;
  size_t bytes = 0;
  std::string text;
  for (bool more = true; more && next(text, more);) {
    bytes += text.size();
    if (bytes > LineReader::longest_line) throw lines_.too_long();
    chunks.push_back(std::move(text));
  }
  return chunks;
}

}  // namespace dragoman
