#include "base/machine.h"

#include <unistd.h>

namespace dragoman {

int64_t machine_memory() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE); }

}  // namespace dragoman
