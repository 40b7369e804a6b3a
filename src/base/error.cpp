#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace dragoman {

Error::~Error() = default;

void invariant(bool condition, const char* what, std::source_location where) {
  if (condition) [[likely]]
    return;
  std::fprintf(stderr, "dragoman: broken invariant: %s (%s:%u)\n", what, where.file_name(), where.line());
  std::abort();
}

}  // namespace dragoman
