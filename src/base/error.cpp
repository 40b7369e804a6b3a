#include "base/error.h"

#include <stdexcept>

namespace dragoman {

Error::~Error() = default;

void invariant(bool condition, const char* what, std::source_location where) {
  if (condition) [[likely]]
    return;
  throw std::logic_error(fmt::format("broken invariant: {} ({}:{})", what, where.file_name(), where.line()));
}

}  // namespace dragoman
