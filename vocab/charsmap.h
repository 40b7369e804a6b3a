#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// What is wrong with a `precompiled_charsmap` of a SentencePiece model; empty: nothing. It holds 4 bytes with the size
/// of a trie, the trie (a double array of Darts-clone, https://github.com/s-yata/darts-clone), and the strings that the
/// trie's keys become, each with a NUL behind it. The library looks up in it without any check of its own.
std::string fault_of_charsmap(std::string_view charsmap);

}  // namespace dragoman
