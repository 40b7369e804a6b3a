#pragma once
#include <string_view>

#include "backend/backend.h"
#include "tensor/arena.h"

namespace dragoman {

/// The backend of that name: "cpu", "reference", "dry" (counts bytes and checks shapes, computes nothing), or "cuda:0",
/// the first GPU; a process computes on one. Made once and shared. Throws Error for other names, listing these, and for
/// GPUs that cannot be used, saying what is missing.
const Backend& backend(std::string_view name);

/// An arena in the memory of that backend.
Arena arena_of(const Backend& backend);

}  // namespace dragoman
