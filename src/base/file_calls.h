#pragma once
#include <sys/types.h>

namespace dragoman {

/// The system calls by which output reaches a disk. All files are written through them (base/file.h), so that a test
/// can let any call fail and see that nothing is lost silently. They return and set errno as the system's do.
struct FileCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int file, const void* data, size_t bytes);
  int (*truncate)(int file, off_t bytes);
  int (*sync)(int file);
  int (*close)(int file);
  int (*rename)(const char* from, const char* to);
};

/// Those in use: the system's, unless a test has replaced them.
FileCalls& file_calls();

}  // namespace dragoman
