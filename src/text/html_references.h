#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// A character reference, such as "&eacute;" or "&#233;", in text of HTML.
struct HtmlReference {
  size_t bytes = 0;             // of the reference; 0: it is none, and "&" stands for itself
  std::string stands_for = {};  // one or two characters
};

/// The reference that the text begins with, as the tokenizer of the HTML standard reads it (section 13.2.5.72 ff.):
/// old names may lack their ";", numbers of Windows-1252 become its characters, impossible ones U+FFFD.
HtmlReference html_reference(std::string_view text);

}  // namespace dragoman
