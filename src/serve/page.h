#pragma once
#include "serve/http.h"

namespace dragoman {

/// The page at `/`, on which people translate. It loads nothing from other sites.
extern const char* const page_html;
extern const char* const page_css;
extern const char* const page_js;

/// Forbid the page to load from, or send to, anything but this server.
Headers page_headers();

}  // namespace dragoman
