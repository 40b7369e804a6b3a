#pragma once
#include <string>

#include "serve/http.h"

namespace dragoman {

/// Error unless this is "*", or an origin as browsers write it in the header Origin (RFC 6454, section 6.2):
/// scheme://host[:port] in lower case, without the port that the scheme has anyway.
void require_origin(const std::string& origin);

/// What lets web pages of this origin ("*": of any) call the server and read its answers. Empty: nothing.
Headers headers_that_allow(const std::string& origin);

}  // namespace dragoman
