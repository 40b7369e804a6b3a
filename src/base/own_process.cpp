#include "base/own_process.h"

#include <unistd.h>

#include "base/error.h"

namespace dragoman {

OwnProcess::OwnProcess() : id_(getpid()) {}

bool OwnProcess::forked() const { return getpid() != id_; }

void OwnProcess::require_not_forked(const char* object) const {
  if (forked())
    throw Error(
        fmt::format("the {} was made before this process was forked, and its threads stayed with the parent", object),
        fmt::format("make the {} after fork(), or start the process anew (in Python: multiprocessing's spawn)",
                    object));
}

}  // namespace dragoman
