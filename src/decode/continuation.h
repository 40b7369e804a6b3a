#pragma once
#include <memory>
#include <vector>

#include "base/philox.h"
#include "decode/constraint.h"

namespace dragoman {

/// A possible next token of a hypothesis.
struct Continuation {
  int32_t id;
  float log_prob;
  std::vector<float> by_model;  // Predictions::by_model
};

/// The allowed continuations of a hypothesis, and how many are needed.
struct RowRequest {
  std::shared_ptr<const Allowed> allowed;  // may be shared by several hypotheses
  int positions;                           // free in the beam, for the continuations of all hypotheses of the sentence
  int share;                               // this hypothesis's equal share of the positions
  PhiloxCounter draw;                      // of the first random draw; later ones increment its last number
  std::vector<int32_t> required = {};      // allowed ids that are needed too, whether probable or not; not for sampling
};

}  // namespace dragoman
