#pragma once
#include <string_view>
#include <vector>

#include "text/html_run.h"

namespace dragoman {

/// The sentences of a page, in order. Bytes outside them are not translated.
std::vector<HtmlSentence> html_sentences(std::string_view page, std::string_view language);

}  // namespace dragoman
