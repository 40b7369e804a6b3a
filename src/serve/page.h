#pragma once
#include "serve/http.h"

namespace dragoman {

/// The page at `/`, on which people translate. It takes nothing from elsewhere.
extern const char* const page_html;
extern const char* const page_css;
extern const char* const page_js;

/// Forbid the page to load or to send anything but from and to this server.
Headers page_headers();

}  // namespace dragoman
