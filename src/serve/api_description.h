#pragma once
#include <string>

namespace dragoman {

/// What the server offers, as OpenAPI 3.0 (JSON).
std::string api_description();

}  // namespace dragoman
