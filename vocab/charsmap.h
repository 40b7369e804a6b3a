#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// The error in a `precompiled_charsmap` of a SentencePiece model; empty: none. It holds 4 bytes with the size of a
/// trie, the trie (a double array of Darts-clone, https://github.com/s-yata/darts-clone), and the replacements of the
/// trie's keys, each followed by a NUL. The library looks up in it without checking anything.
std::string fault_of_charsmap(std::string_view charsmap);

}  // namespace dragoman
