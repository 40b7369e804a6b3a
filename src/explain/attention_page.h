#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// A web page of explanations that needs nothing but itself: heads as small pictures, the one that is picked as a
/// table, and the pieces, each of which shows where it looks. Written part by part: page_begin(), page_part() of each
/// explanation, page_end(). Weights are rounded to 1/2047 of the largest that their colour can show.
std::string page_begin(const std::string& model, AttentionMethod method);
std::string page_part(const Explanation& explanation);
std::string page_end();

}  // namespace dragoman
