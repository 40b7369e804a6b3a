// Loaded before the C library (LD_PRELOAD): ends the process as kill -9 would at the KILL_AT-th change of a file.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

bool due() {
  static std::atomic<int> changes = 0;
  const char* last = std::getenv("KILL_AT");
  return last && ++changes == std::atoi(last);
}

bool is_regular(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

// Half of the bytes are on disk when it happens.
extern "C" ssize_t write(int file, const void* data, size_t bytes) {
  const bool dies = is_regular(file) && due();
  const ssize_t written = syscall(SYS_write, file, data, dies ? bytes / 2 : bytes);
  if (dies) raise(SIGKILL);
  return written;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  if (due()) raise(SIGKILL);
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

extern "C" int unlink(const char* path) noexcept {
  if (due()) raise(SIGKILL);
  return unlinkat(AT_FDCWD, path, 0);
}

extern "C" int remove(const char* path) noexcept {
  if (due()) raise(SIGKILL);
  return unlinkat(AT_FDCWD, path, 0);
}
