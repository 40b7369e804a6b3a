#pragma once
#include <string>
#include <vector>

#include "vocab/vocabulary.h"

namespace dragoman {

/// Error unless a vocabulary may have these protected symbols: each once, without blanks, no special piece, no byte.
void require_protectable(const std::vector<std::string>& symbols);

/// The bytes of a SentencePiece model with more protected symbols, which are never split: new pieces after the others,
/// whose ids stay. Symbols that it protects already are left out. Error if a symbol is another piece of it, or if it is
/// a list of pieces; `name` is what messages call it.
std::string with_protected_symbols(const Vocabulary& vocabulary, const std::vector<std::string>& symbols,
                                   const std::string& name);

/// Whether `longer` has the pieces of the other vocabulary, with the same ids, and more, as with_protected_symbols()
/// makes it.
bool extends(const Vocabulary& longer, const Vocabulary& vocabulary);

}  // namespace dragoman
