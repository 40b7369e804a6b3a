#pragma once
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace dragoman {

/// Whole rows of a parameter buffer that training may change.
struct TrainedRows {
  size_t buffer;
  int64_t first, rows;
};

/// The elements of these rows that lie within a range of the flat buffers, a run of elements each; none of them is
/// empty.
std::vector<Range> flat_ranges(const Parameters& parameters, const std::vector<TrainedRows>& rows, Range within);

/// All parameters but those whose names match one of `frozen`, shell patterns such as "encoder.*" or "*.bias", in as
/// few pieces as there can be: without patterns one a buffer. Error for a pattern that no name matches, and when
/// nothing is left.
std::vector<TrainedRows> trained_rows(const Parameters& parameters, const std::vector<std::string>& frozen);

}  // namespace dragoman
