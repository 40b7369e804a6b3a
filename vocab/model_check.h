#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// The error in a SentencePiece model that the library would not find; empty: none. What the library checks itself
/// (empty or duplicate pieces, no unknown piece, missing bytes) is not checked. With a model that this rejects,
/// encoding may read memory outside the model.
std::string fault_of_model(std::string_view model);

}  // namespace dragoman
