#pragma once
#include "vocab/listed_vocabulary.h"

namespace dragoman {

/// The bytes of a listed vocabulary (docs/model_format.md): a line of JSON, the pieces, the model.
std::string to_container(const ListedVocabulary& vocabulary);

/// Whether the bytes begin like a container.
bool is_container(std::string_view bytes);

/// The inverse of to_container(). Checks sizes, but nothing that listed_model() checks. Throws Error; `name` is what
/// messages call the bytes.
ListedVocabulary from_container(std::string_view bytes, const std::string& name);

}  // namespace dragoman
