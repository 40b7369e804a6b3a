#pragma once
#include <unicode/utypes.h>

namespace dragoman {

/// Error "ICU cannot {work}: …" if a call of ICU has failed, as for want of memory.
void require_icu(UErrorCode status, const char* work);

}  // namespace dragoman
