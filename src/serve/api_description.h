#pragma once

namespace dragoman {

/// What the server offers, as OpenAPI 3.0 (JSON).
const char* api_description();

}  // namespace dragoman
