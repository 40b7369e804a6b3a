#pragma once
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include "base/file_calls.h"

namespace dragoman {

/// While this lives no file of the process may grow beyond `bytes`: writing fails as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

/// While this lives, the files of a folder have at most `bytes` together: writing more fails as on a full disk.
class SmallDisk {
 public:
  SmallDisk(const std::string& in, int64_t bytes) {
    folder = in;
    room = bytes;
    file_calls().write = [](int file, const void* data, size_t size) -> ssize_t {
      if (used() + int64_t(size) <= room) return write(file, data, size);
      errno = ENOSPC;
      return -1;
    };
  }
  void resize(int64_t bytes) { room = bytes; }
  void tell_free_space() {
    file_calls().statvfs = [](const char*, struct statvfs* disk) {
      *disk = {};
      disk->f_frsize = 1;
      disk->f_bavail = fsblkcnt_t(room - used());
      return 0;
    };
  }
  ~SmallDisk() { file_calls() = before_; }

  static int64_t used() {
    int64_t bytes = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder)) bytes += int64_t(each.file_size());
    return bytes;
  }

 private:
  static inline std::string folder;
  static inline int64_t room = 0;
  const FileCalls before_ = file_calls();
};

}  // namespace dragoman
