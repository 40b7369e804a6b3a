#include "nn/scores/score_kind.h"

namespace dragoman {

// score = (U x)·(V z): the bilinear score with W = Uᵀ V of low rank. U and V have the names of projections.
const ScoreKind reduced_rank_score{
    .kernel = Score::dot, .has_query_matrix = true, .has_key_matrix = true, .excludes_projections = true};

}  // namespace dragoman
