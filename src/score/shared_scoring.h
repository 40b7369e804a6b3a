#pragma once
#include <variant>

#include "base/line_writer.h"
#include "comm/communicator.h"
#include "score/n_best_reader.h"
#include "score/pair_reader.h"
#include "score/pair_scorer.h"

namespace dragoman {

/// Input and output of shared scoring, on rank 0.
struct ScoredFiles {
  std::variant<PairReader, NBestReader>& in;  // NBestReader with ScoreFileOptions::n_best
  LineWriter& out;
};

/// Scores the pairs of a file on all ranks, which call it together with the same model and options: rank 0 reads the
/// available pairs, up to `maxi_batch_lines` per rank, and each rank scores consecutive ones with about equally many
/// bytes. Writes a line for each pair unless a summary is requested; the lines are the same as with one process. The
/// error of a pair is thrown when the lines before it are written. Returns the totals of all ranks, on rank 0. `files`
/// is null on other ranks.
ScoreTotals score_on_ranks(Communicator& ranks, PairScorer& scorer, const ScoreFileOptions& options,
                           const ScoredFiles* files);

}  // namespace dragoman
