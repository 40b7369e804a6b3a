#include "base/file_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace dragoman {

FileCalls& file_calls() {
  static FileCalls calls{.open = [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
                         .write = ::write,
                         .truncate = ::ftruncate,
                         .sync = ::fsync,
                         .close = ::close,
                         .rename = ::rename,
                         .statvfs = ::statvfs};
  return calls;
}

}  // namespace dragoman
