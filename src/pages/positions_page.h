#pragma once
#include <string>
#include <vector>

#include "explain/positions.h"

namespace dragoman {

/// A self-contained web page: for each, the matrix as an image and the cosines between its rows.
std::string positions_page(const std::string& title, const std::vector<PositionVectors>& all);

}  // namespace dragoman
