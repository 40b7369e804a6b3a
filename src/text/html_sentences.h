#pragma once
#include <string_view>
#include <vector>

#include "text/html_run.h"

namespace dragoman {

/// The sentences of a page, in order. What is not in their bytes is no text to translate.
std::vector<HtmlSentence> html_sentences(std::string_view page, std::string_view language);

}  // namespace dragoman
