#include "base/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/file_calls.h"

namespace dragoman {
namespace {

std::string new_file_in(const std::string& folder) {
  std::string path = folder + "/dragoman-XXXXXX";
  const int number = mkostemp(path.data(), O_CLOEXEC);
  if (number < 0)
    throw Error(fmt::format("{}: cannot create a temporary file there: {}", folder, std::strerror(errno)),
                "name another folder with --tempdir");
  close(number);
  return path;
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& folder) : TemporaryFile(Path{new_file_in(folder)}) {}

TemporaryFile::TemporaryFile(const Path& path)
    : written_(FileDescriptor::to_write(path.name)), read_(FileDescriptor::to_read(path.name)), writer_(written_) {
  unlink(path.name.c_str());
}

TemporaryFile::TemporaryFile(InMemory)
    : written_(FileDescriptor::in_memory("a file in memory")),
      read_(FileDescriptor::to_read(path_of(written_))),
      writer_(written_) {}

std::string TemporaryFile::path_of(const FileDescriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.number());
}

void TemporaryFile::read(int64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = pread(read_.number(), into.data(), into.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, "{}: reading failed: {}", read_.name(), std::strerror(errno));
    require(got > 0, "{} ends at byte {}, expected more", read_.name(), offset);
    into = into.subspan(size_t(got));
    offset += got;
  }
}

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

int64_t free_space_in(const std::string& folder) {
  struct statvfs disk {};
  if (file_calls().statvfs(folder.c_str(), &disk) != 0) return std::numeric_limits<int64_t>::max();
  return int64_t(disk.f_bavail) * int64_t(disk.f_frsize);
}

}  // namespace dragoman
