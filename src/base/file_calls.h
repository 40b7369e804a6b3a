#pragma once
#include <sys/statvfs.h>
#include <sys/types.h>

namespace dragoman {

/// The system calls that write output to disk, and ask for room on it. All files are written through them
/// (base/file.h), so a test can make any call fail and check that nothing is lost silently. They return values and set
/// errno as the system's do.
struct FileCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int file, const void* data, size_t bytes);
  int (*truncate)(int file, off_t bytes);
  int (*sync)(int file);
  int (*close)(int file);
  int (*rename)(const char* from, const char* to);
  int (*statvfs)(const char* path, struct statvfs* result);  // tells the free space
};

/// The calls in use: the system's, unless a test has replaced them.
FileCalls& file_calls();

}  // namespace dragoman
