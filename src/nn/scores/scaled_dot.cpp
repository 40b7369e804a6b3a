#include "nn/scores/score_kind.h"

namespace dragoman {

// score = q·k / √K (Vaswani et al. 2017, equation 1)
const ScoreKind scaled_dot_score{.kernel = Score::scaled_dot};

}  // namespace dragoman
