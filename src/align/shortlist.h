#pragma once
#include "align/options.h"
#include "align/translation_table.h"
#include "io/shortlist.h"

namespace dragoman {

/// Builds a shortlist from a trained table. A source piece that is also a target piece is always among its own
/// translations, so that names and numbers that did not occur in the text can be copied.
Shortlist make_shortlist(const TranslationTable& table, const ParallelIds& pairs, const Vocabulary& source,
                         const Vocabulary& target, const ShortlistOptions& options);

}  // namespace dragoman
