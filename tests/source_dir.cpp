#include "tests/source_dir.h"

namespace dragoman {

std::string source_dir() { return DRAGOMAN_SOURCE_DIR; }

}  // namespace dragoman
