#pragma once
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

/// Which continuations a hypothesis may have, and how many.
struct RowRequest {
  Allowed allowed = {};
  int positions;       // left in the beam, for the continuations of all hypotheses of the sentence
  int share;           // this hypothesis's equal share of the positions
  PhiloxCounter draw;  // of the first random draw; later ones increment its last number
};

}  // namespace dragoman
