#pragma once
#include <string>
#include <vector>

#include "decode/translation.h"
#include "dragoman/linked_words.h"

namespace dragoman {

/// The words of a translation that has links (TextRequest::alignment), each with the words of its source that it
/// attends to, in the order of the translation. A word that attends to none is not among them.
std::vector<LinkedWords> linked_words(const std::string& source, const Translation& translation);

}  // namespace dragoman
