#include "nn/scores/score_kind.h"

namespace dragoman {

// score = xᵀ W z = (Wᵀ x)·z (Luong et al. 2015, equation 8, "general"). Wᵀ has the name of the query's projection.
const ScoreKind bilinear_score{.kernel = Score::dot, .has_query_matrix = true, .excludes_projections = true};

}  // namespace dragoman
