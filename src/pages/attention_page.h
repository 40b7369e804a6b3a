#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// A self-contained web page of explanations: heads as thumbnails, the selected one as a table, and the tokens, each of
/// which shows what it attends to. Written piecewise: page_begin(), page_part() for each explanation, page_end().
/// Weights are rounded to 1/2047 of the largest value their colour can show.
std::string page_begin(const std::string& model, AttentionMethod method);
std::string page_part(const Explanation& explanation);
std::string page_end();

}  // namespace dragoman
