#include "base/new_thread.h"

namespace dragoman {

TooManyThreads::TooManyThreads(const std::system_error& reason)
    : Error(fmt::format("the system cannot start more threads: {}", reason.code().message()),
            "raise the limit on processes and threads (ulimit -u; in a container, that on pids) or on memory (ulimit "
            "-v), or use fewer threads") {}

}  // namespace dragoman
