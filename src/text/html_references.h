#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// A character reference in the text of HTML, such as "&eacute;" or "&#233;".
struct HtmlReference {
  size_t bytes = 0;             // of the reference; 0: not a reference, "&" stands for itself
  std::string stands_for = {};  // one or two characters
};

/// The reference at the start of the text, as the tokenizer of the HTML standard reads it (section 13.2.5.72 ff.):
/// old names may lack their ";", numbers of Windows-1252 become its characters, invalid ones U+FFFD.
HtmlReference html_reference(std::string_view text);

}  // namespace dragoman
