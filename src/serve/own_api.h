#pragma once
#include <span>

#include "serve/service.h"

namespace dragoman {

/// What the server offers beyond LibreTranslate (docs/serve.md): /v1/translate with all options of the search, also as
/// a stream; /v1/score, /v1/reload, /metrics.
std::span<const Route> own_routes();

}  // namespace dragoman
