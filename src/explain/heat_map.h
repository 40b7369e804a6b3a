#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// An explanation as text for a terminal. Each head is a grid of shades: a row per query, ending with the key of the
/// largest weight, and two characters per key. Control characters in pieces are not passed to the terminal.
std::string heat_map(const Explanation& explanation);

/// The legend of the shades, printed once at the start: "░ 0.05, …".
std::string heat_map_legend(AttentionMethod method);

}  // namespace dragoman
