#include "base/machine.h"

#include <unistd.h>

#include <fstream>

namespace dragoman {

int64_t machine_memory() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE); }

// proc(5): size and resident, in pages.
int64_t resident_memory() {
  std::ifstream status("/proc/self/statm");
  int64_t size = 0, resident = 0;
  return status >> size >> resident ? resident * sysconf(_SC_PAGE_SIZE) : 0;
}

}  // namespace dragoman
