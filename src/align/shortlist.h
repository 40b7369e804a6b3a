#pragma once
#include "align/options.h"
#include "align/translation_table.h"
#include "io/shortlist.h"

namespace dragoman {

/// From a trained table. A source piece that is a target piece too, letter by letter, may be copied: names and numbers
/// that the text did not have.
Shortlist make_shortlist(const TranslationTable& table, const IdPairs& pairs, const Vocabulary& source,
                         const Vocabulary& target, const ShortlistOptions& options);

}  // namespace dragoman
