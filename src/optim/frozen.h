#pragma once
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "optim/options.h"

namespace dragoman {

inline Trainable trainable_by(const OptimizerOptions& o) { return {.frozen = o.freeze, .lora_rank = o.lora_rank}; }

/// Whole rows of a parameter buffer that training may change.
struct TrainedRows {
  size_t buffer;
  int64_t first, rows;
};

/// The parts of these rows that lie in the range `within` of the flat buffers, as non-empty ranges of elements.
std::vector<Range> flat_ranges(const Parameters& parameters, const std::vector<TrainedRows>& rows, Range within);

/// All parameters that have a gradient, except those whose names match a pattern of `frozen`, shell patterns such as
/// "encoder.*" or "*.bias"; rows of a low-rank update stay zero if the name of its weight matches.
/// Adjacent rows are merged: without patterns there is one entry per buffer. Error for a pattern that matches no name,
/// and if no parameter is left.
std::vector<TrainedRows> trained_rows(const Parameters& parameters, const std::vector<std::string>& frozen);

}  // namespace dragoman
