#include "nn/scores/score_kind.h"

#include "base/error.h"

namespace dragoman {

Var LearnedScore::keys(Context&, const Tensor&) const { return {}; }

const ScoreKind& score_kind(AttentionScore score) {
  switch (score) {
    case AttentionScore::scaled_dot:
      return scaled_dot_score;
    case AttentionScore::dot:
      return dot_score;
    case AttentionScore::additive:
      return additive_score;
    case AttentionScore::bilinear:
      return bilinear_score;
    case AttentionScore::reduced_rank:
      return reduced_rank_score;
    case AttentionScore::location:
      return location_score;
  }
  fail("unknown attention score {}", int(score));
}

}  // namespace dragoman
