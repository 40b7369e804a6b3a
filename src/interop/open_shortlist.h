#pragma once
#include "interop/marian_shortlist.h"

namespace dragoman {

/// Reads a dragoman shortlist, a Marian shortlist or a table of translations, to which the limits apply. Throws the
/// errors of these readers.
Shortlist open_shortlist(const std::string& path, const ShortlistLimits& limits, const Vocabulary& source,
                         const Vocabulary& target);

}  // namespace dragoman
