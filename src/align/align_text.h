#pragma once
#include "align/options.h"

namespace dragoman {

/// Trains the aligner on the text and writes the links of each pair, a shortlist, or both. Logs each iteration. Memory:
/// the ids of all pairs and one table of translations; with `symmetrize`, which learns one direction after the other,
/// also 4 bytes per target piece and 40 per pair for the links of the first. Error for files that differ in their
/// number of lines and for files that cannot be read.
void align_text(const AlignOptions& options);

}  // namespace dragoman
