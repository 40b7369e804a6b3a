#pragma once
#include <string_view>

#include "backend/backend.h"

namespace dragoman {

/// The backend of that name: "cpu", "reference" or "dry" (counts bytes and checks shapes, computes nothing). Made once
/// and shared. Throws Error for other names, listing these.
const Backend& backend(std::string_view name);

}  // namespace dragoman
