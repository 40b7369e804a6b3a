#include "base/error.h"

#include <stdexcept>

namespace dragoman {

Error::~Error() = default;

void broken_invariant(const char* what, std::source_location where) {
  throw std::logic_error(fmt::format("broken invariant: {} ({}:{})", what, where.file_name(), where.line()));
}

}  // namespace dragoman
