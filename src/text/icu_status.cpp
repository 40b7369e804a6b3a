#include "text/icu_status.h"

#include "base/error.h"

namespace dragoman {

void require_icu(UErrorCode status, const char* work) {
  require(U_SUCCESS(status), "ICU cannot {}: {}", work, u_errorName(status));
}

}  // namespace dragoman
