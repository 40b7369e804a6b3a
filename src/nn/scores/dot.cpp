#include "nn/scores/score_kind.h"

namespace dragoman {

// score = q·k (Luong et al. 2015, equation 8, "dot")
const ScoreKind dot_score{.kernel = Score::dot};

}  // namespace dragoman
