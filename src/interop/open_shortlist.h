#pragma once
#include "interop/marian_shortlist.h"

namespace dragoman {

/// A shortlist of ours, of Marian, or a table of translations; the limits are for the table. Errors are those of the
/// readers.
Shortlist open_shortlist(const std::string& path, const ShortlistLimits& limits, const Vocabulary& source,
                         const Vocabulary& target);

}  // namespace dragoman
