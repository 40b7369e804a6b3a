#pragma once
#include "align/options.h"
#include "align/translation_table.h"
#include "io/shortlist.h"

namespace dragoman {

/// Makes a shortlist from a trained table. A source piece that is also a target piece is among its own translations:
/// names and numbers that the text did not have can be copied.
Shortlist make_shortlist(const TranslationTable& table, const IdPairs& pairs, const Vocabulary& source,
                         const Vocabulary& target, const ShortlistOptions& options);

}  // namespace dragoman
