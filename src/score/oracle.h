#pragma once
#include <functional>
#include <string>

#include "base/line_reader.h"
#include "dragoman/evaluate.h"

namespace dragoman {

/// For each line of `references`, calls `chosen` with the translation of the n-best list that has the best sentence
/// BLEU, the first one if several are equal. The options determine how BLEU is computed. Error for lines without
/// translations, for translations without a line, and for a malformed list.
void choose_nearest(LineReader& references, LineReader& list, const EvaluateOptions& options,
                    const std::function<void(const std::string& text)>& chosen);

}  // namespace dragoman
