#pragma once
#include <string>
#include <vector>

#include "explain/positions.h"

namespace dragoman {

/// A self-contained web page that shows each matrix of positions as an image, with the cosines between its rows.
std::string positions_page(const std::string& title, const std::vector<PositionVectors>& all);

}  // namespace dragoman
