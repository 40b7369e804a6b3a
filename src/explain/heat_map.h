#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// An explanation as text for a terminal: of each head a row of shades for each piece that looks, two columns wide for
/// each piece that is looked at, and at its end the piece that it looks at most. No character of a piece is an order to
/// the terminal.
std::string heat_map(const Explanation& explanation);

/// What the shades stand for, once before all: "░ 0.05, …".
std::string heat_map_legend(AttentionMethod method);

}  // namespace dragoman
