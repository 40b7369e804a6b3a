#pragma once
#include <vector>

#include "model/model.h"

namespace dragoman {

std::vector<double> row_of(const Tensor& x, int64_t n);

/// Feeds the batch's own targets step by step; gives logits in the order of the packed target rows.
std::vector<std::vector<double>> forced_logits(Model& model, Context& cx, const Batch& batch);

}  // namespace dragoman
