#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr size_t block_bytes = 1 << 20;

std::string hint_for(int error) {
  switch (error) {
    case ENOENT:
      return "check the name, and the folder that the command runs in";
    case EACCES:
      return "ls -l shows whose it is and who may use it";
    case EROFS:
      return "the disk is mounted read-only: write elsewhere";
    case ENOSPC:
      return "free some space on the disk (df -h), or write elsewhere";
    case EDQUOT:
      return "the disk quota is used up: free some space, or write elsewhere";
    default:
      return "";
  }
}

[[noreturn]] void fail_on(const std::string& name, const char* what, int error) {
  throw Error(fmt::format("{}: {}: {}", name.empty() ? "''" : name, what, std::strerror(error)), hint_for(error));
}

[[noreturn]] void fail_to_make(const std::string& path, int error) {
  const std::string folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (error == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
    throw Error(fmt::format("{}: there is no folder {}", path, folder), "mkdir -p " + folder);
  fail_on(path, "cannot be written", error);
}

[[noreturn]] void fail_to_map(const std::string& path) {
  throw Error(path + " is not a file on disk", "it has to be read at any place: save what comes out of the pipe first");
}

struct stat status_of(const FileDescriptor& file) {
  struct stat status;
  if (fstat(file.number(), &status) != 0) fail_on(file.name(), "cannot be examined", errno);
  return status;
}

}  // namespace

FileDescriptor FileDescriptor::to_read(const std::string& path) {
  if (path == "-") return {STDIN_FILENO, false, "stdin"};
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC), true, path);
  if (file.number_ < 0) fail_on(path, "cannot be opened", errno);
  if (S_ISDIR(status_of(file).st_mode)) throw Error(path + " is a folder, expected a file");
  return file;
}

FileDescriptor FileDescriptor::to_write(const std::string& path) {
  if (path == "-") return {STDOUT_FILENO, false, "stdout"};
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), true, path);
  if (file.number_ < 0) fail_to_make(path, errno);
  return file;
}

FileDescriptor FileDescriptor::to_append(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), true, path);
  if (file.number_ < 0) fail_to_make(path, errno);
  return file;
}

FileDescriptor::~FileDescriptor() {
  if (owned_ && number_ >= 0) ::close(number_);
}

size_t FileDescriptor::read(char* data, size_t bytes) {
  for (;;) {
    const ssize_t got = ::read(number_, data, bytes);
    if (got >= 0) return size_t(got);
    if (errno == EAGAIN) {  // somebody made the pipe non-blocking; wait as a blocking one would
      pollfd wanted{number_, POLLIN, 0};
      poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      fail_on(name_, "reading failed", errno);
    }
  }
}

bool FileDescriptor::readable_now() const {
  pollfd wanted{number_, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0;
}

void FileDescriptor::write(std::string_view data) {
  while (!data.empty()) {
    const ssize_t done = ::write(number_, data.data(), data.size());
    if (done >= 0) {
      data.remove_prefix(size_t(done));
    } else if (errno == EPIPE) {
      throw BrokenPipe();
    } else if (errno == EAGAIN) {
      pollfd wanted{number_, POLLOUT, 0};
      poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      fail_on(name_, "writing failed", errno);
    }
  }
}

void FileDescriptor::close() {
  if (!owned_ || number_ < 0) return;
  if (::close(std::exchange(number_, -1)) != 0) fail_on(name_, "writing failed", errno);
}

bool FileDescriptor::is_regular() const { return S_ISREG(status_of(*this).st_mode); }

int64_t FileDescriptor::size() const { return status_of(*this).st_size; }

int64_t FileDescriptor::position() const { return lseek(number_, 0, SEEK_CUR); }

std::string read_file(const std::string& path) {
  auto file = FileDescriptor::to_read(path);
  std::string content;
  for (size_t size = 0;;) {
    content.resize(size + block_bytes);
    const size_t got = file.read(content.data() + size, block_bytes);
    size += got;
    content.resize(size);
    if (got == 0) return content;
  }
}

MappedFile::MappedFile(const std::string& path) {
  // Asked by name first: to open a pipe is to wait for somebody who writes.
  if (struct stat status; stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)) fail_to_map(path);
  const auto file = FileDescriptor::to_read(path);
  if (!file.is_regular()) fail_to_map(path);
  const size_t size = size_t(file.size());
  if (size == 0) return;  // mmap refuses an empty range
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) fail_on(path, "cannot be mapped into memory", errno);
  data_ = {static_cast<const std::byte*>(data), size};
}

void MappedFile::let_go(std::span<const std::byte> part) {
  const auto page = uintptr_t(sysconf(_SC_PAGE_SIZE)), address = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t begin = address / page * page;
  madvise(reinterpret_cast<void*>(begin), address + part.size() - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!data_.empty()) munmap(const_cast<std::byte*>(data_.data()), data_.size());
}

void FileWriter::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > block_bytes) flush();
  if (bytes.size() > block_bytes) return file_.write(bytes);  // weights go straight from memory to the file
  buffer_.append(bytes);
}

void FileWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

// The temporary file and its removal. The process id in the name keeps two runs that write one target apart: each
// writes its own file, and the last rename wins.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path) : path_(target_of(path)), temporary_(beside(path_)), file_(make()) {}
  ~AtomicFile() {
    if (!renamed_) unlink(temporary_.c_str());
  }
  FileDescriptor& file() { return file_; }

  void commit() {
    if (fsync(file_.number()) != 0) fail_on(path_, "writing failed", errno);
    file_.close();
    if (rename(temporary_.c_str(), path_.c_str()) != 0) fail_on(path_, "cannot be replaced", errno);
    renamed_ = true;
    sync_folder();
  }

 private:
  static std::string target_of(const std::string& path) {
    std::error_code ignored;
    const auto real = std::filesystem::canonical(path, ignored);  // a link's target is replaced, not the link
    if (ignored) return path;
    require(std::filesystem::is_regular_file(real), "{} is there and is not a file: it cannot be replaced", path);
    return real;
  }

  static std::string beside(const std::string& path) { return fmt::format("{}.tmp-{}", path, getpid()); }

  FileDescriptor make() const {
    const int number = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (number < 0) fail_to_make(path_, errno);
    return {number, true, path_};
  }

  // The rename itself is on disk only when the folder is. Some file systems cannot sync a folder, and need not.
  void sync_folder() const {
    const std::string folder = std::filesystem::path(path_).parent_path();
    const int number = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (number < 0) return;
    fsync(number);
    close(number);
  }

  std::string path_, temporary_;
  FileDescriptor file_;
  bool renamed_ = false;
};

void write_atomically(const std::string& path, const std::function<void(FileWriter&)>& write) {
  AtomicFile target(path);
  FileWriter writer(target.file());
  write(writer);
  writer.flush();
  target.commit();
}

}  // namespace dragoman
