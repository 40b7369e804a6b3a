#include "base/own_process.h"

#include <unistd.h>

#include "base/error.h"

namespace dragoman {

OwnProcess::OwnProcess() : id_(getpid()) {}

bool OwnProcess::forked() const { return getpid() != id_; }

void OwnProcess::require_not_forked(const char* object) const {
  if (forked())
    throw Error(
        fmt::format(
            "the {} was created before this process was forked, so its threads exist only in the parent process",
            object),
        fmt::format("create the {} after fork(), or start a new process instead (in Python: multiprocessing's spawn)",
                    object));
}

}  // namespace dragoman
