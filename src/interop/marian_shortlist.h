#pragma once
#include <string>
#include <string_view>

#include "io/shortlist.h"

namespace dragoman {

/// Whether a file that begins like this is Marian's binary shortlist.
bool is_marian_shortlist(std::string_view begin);

/// Marian's binary shortlist, also from its browser forks, which is already pruned. Error, naming the file, for a wrong
/// checksum, inconsistent sizes, and ids or a number of source pieces that the vocabularies do not have.
Shortlist read_marian_shortlist(const std::string& path, const Vocabulary& source, const Vocabulary& target);

/// Reads lines `target source probability`, as extract_lex writes them for Marian. Pieces that are not in the
/// vocabulary are <unk>. Error, naming file and line, for lines of another form, and if no line names pieces of both
/// vocabularies.
Shortlist read_lexical_table(const std::string& path, const ShortlistLimits& limits, const Vocabulary& source,
                             const Vocabulary& target);

}  // namespace dragoman
