#pragma once
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace dragoman {

/// Whole rows of a parameter buffer that training may change.
struct TrainedRows {
  size_t buffer;
  int64_t first, rows;

  Tensor of(const Tensor& like_buffer) const { return like_buffer.row_range(first, rows); }
};

/// All parameters but those whose names match one of `frozen`, shell patterns such as "encoder.*" or "*.bias", in as
/// few pieces as there can be: without patterns one a buffer. Error for a pattern that no name matches, and when
/// nothing is left.
std::vector<TrainedRows> trained_rows(const Parameters& parameters, const std::vector<std::string>& frozen);

}  // namespace dragoman
