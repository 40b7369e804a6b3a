#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// What is wrong with a SentencePiece model that the library would trust; empty: nothing. What the library finds out
/// itself (pieces that are empty or there twice, no unknown piece, missing bytes) is not looked for. Trust what this
/// refuses and encoding reads memory that is not the model's.
std::string fault_of_model(std::string_view model);

}  // namespace dragoman
