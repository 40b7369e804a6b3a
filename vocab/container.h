#pragma once
#include "vocab/listed_vocabulary.h"

namespace dragoman {

/// The bytes of a listed vocabulary (docs/model_format.md): a line of JSON, the pieces, the model.
std::string to_container(const ListedVocabulary& vocabulary);

/// Whether bytes are meant to be a container, by how they begin.
bool is_container(std::string_view bytes);

/// The inverse of to_container(). Checks sizes, and nothing that listed_model() checks. Error; `name` says in it where
/// the bytes are from.
ListedVocabulary from_container(std::string_view bytes, const std::string& name);

}  // namespace dragoman
