#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/file_calls.h"
#include "base/log.h"
#include "base/symbolic_links.h"

namespace dragoman {
namespace {

constexpr size_t file_block_bytes = 1 << 20;

std::string hint_for(int error) {
  switch (error) {
    case ENOENT:
      return "check the name, and the folder that the command runs in";
    case EACCES:
      return "ls -l shows its owner and permissions";
    case EROFS:
      return "the disk is mounted read-only: write elsewhere";
    case EBUSY:
      return "a file that is mounted cannot be replaced: write elsewhere, or mount the folder that it is in";
    case ENOSPC:
      return "free some space on the disk (df -h), or write elsewhere";
    case EDQUOT:
      return "the disk quota is used up: free some space, or write elsewhere";
    case EFBIG:
      return "the limit on file sizes is reached: ulimit -f shows it";
    default:
      return "";
  }
}

[[noreturn]] void fail_on(const std::string& name, const char* what, int error) {
  throw Error(fmt::format("{}: {}: {}", name.empty() ? "''" : name, what, std::strerror(error)), hint_for(error));
}

// The same file in another compression, plain or compressed; empty: there is none.
std::string in_another_form(const std::string& path) {
  static constexpr std::string_view endings[] = {"", ".gz", ".xz", ".zst"};
  std::string plain = path;
  for (const std::string_view ending : endings)
    if (path.ends_with(ending)) plain = path.substr(0, path.size() - ending.size());
  for (const std::string_view ending : endings) {
    std::error_code unknown;
    const std::string other = plain + std::string(ending);
    if (other != path && std::filesystem::is_regular_file(other, unknown)) return other;
  }
  return "";
}

[[noreturn]] void fail_to_open(const std::string& path, int error) {
  const auto complain = [&](const std::string& hint) {
    throw Error(fmt::format("{}: cannot be opened: {}", path, std::strerror(error)), hint);
  };
  if (error == ENOENT && is_there(path))
    complain(fmt::format("it is a symbolic link to {}, which does not exist", without_links(path).string()));
  if (const std::string other = error == ENOENT ? in_another_form(path) : ""; !other.empty())
    complain(fmt::format("there is {}: did you mean that?", other));
  fail_on(path, "cannot be opened", error);
}

[[noreturn]] void fail_to_make(const std::string& path, int error) {
  const std::string folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (error == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
    throw Error(fmt::format("{}: there is no folder {}", path, folder), "mkdir -p " + folder);
  fail_on(path, "cannot be written", error);
}

[[noreturn]] void refuse_special(const std::string& path) {
  throw Error(path + " is not a file on disk",
              "it must be a seekable file: save the output of the pipe to a file first");
}

// By name, before the file is opened: opening a pipe would wait for a writer.
void require_no_pipe(const std::string& path) {
  if (is_pipe(path)) refuse_special(path);
}

struct stat status_of(const FileDescriptor& file) {
  struct stat status;
  if (fstat(file.number(), &status) != 0) fail_on(file.name(), "cannot be examined", errno);
  return status;
}

}  // namespace

bool is_pipe(const std::string& path) {
  struct stat status;
  return path == "-" || (stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode));
}

FileDescriptor FileDescriptor::to_read(const std::string& path) {
  if (path == "-") return {STDIN_FILENO, Access::borrowed, "stdin"};
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC), Access::reading, path);
  if (file.number_ < 0) fail_to_open(path, errno);
  if (S_ISDIR(status_of(file).st_mode)) throw Error(path + " is a folder, expected a file");
  return file;
}

FileDescriptor FileDescriptor::to_write(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return {STDOUT_FILENO, Access::borrowed, "stdout"};
  FileDescriptor file(file_calls().open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666), Access::writing, path);
  if (file.number_ < 0) fail_to_make(path, errno);
  const struct stat status = status_of(file);
  file.holds_old_content_ = S_ISREG(status.st_mode) && status.st_size > 0;
  return file;
}

FileDescriptor FileDescriptor::in_memory(const std::string& name) {
  FileDescriptor file(memfd_create("dragoman", MFD_CLOEXEC), Access::writing, name);
  if (file.number_ < 0) fail_on(name, "cannot create a file in memory", errno);
  return file;
}

FileDescriptor FileDescriptor::to_append(const std::string& path) {
  FileDescriptor file(file_calls().open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), Access::writing,
                      path);
  if (file.number_ < 0) fail_to_make(path, errno);
  return file;
}

FileDescriptor FileDescriptor::to_append_lines(const std::string& path) {
  FileDescriptor file = to_append(path);
  const int64_t bytes = file.is_regular() ? file.size() : 0;
  char last = '\n';
  const int before = bytes > 0 ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (before >= 0) {
    if (pread(before, &last, 1, bytes - 1) != 1) last = '\n';
    ::close(before);
  }
  if (last != '\n') file.write("\n");
  return file;
}

FileDescriptor::~FileDescriptor() {
  if (number_ < 0) return;
  if (access_ == Access::reading) ::close(number_);
  if (access_ != Access::writing || file_calls().close(number_) == 0) return;
  try {
    log_warning("{}: writing failed: {}", name_, std::strerror(errno));
  } catch (...) {  // no memory for the message, or the log threw: there is nowhere to report it
  }
}

size_t FileDescriptor::read(char* data, size_t bytes) {
  for (;;) {
    const ssize_t got = ::read(number_, data, bytes);
    if (got >= 0) return size_t(got);
    if (errno == EAGAIN) {  // the pipe was made non-blocking: wait as a blocking one would
      pollfd wanted{number_, POLLIN, 0};
      poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      fail_on(name_, "reading failed", errno);
    }
  }
}

bool FileDescriptor::readable_within(int milliseconds) const {
  pollfd wanted{number_, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

void FileDescriptor::write(std::string_view data) {
  if (!data.empty()) remove_old_content();
  while (!data.empty()) {
    const ssize_t done = file_calls().write(number_, data.data(), data.size());
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
  if (access_ == Access::borrowed || number_ < 0) return;
  remove_old_content();
  if (file_calls().close(std::exchange(number_, -1)) != 0) fail_on(name_, "writing failed", errno);
}

void FileDescriptor::remove_old_content() {
  if (!holds_old_content_) return;
  if (file_calls().truncate(number_, 0) != 0) fail_on(name_, "cannot be emptied", errno);
  holds_old_content_ = false;
}

bool FileDescriptor::is_regular() const { return S_ISREG(status_of(*this).st_mode); }

int64_t FileDescriptor::size() const { return status_of(*this).st_size; }

int64_t FileDescriptor::position() const { return lseek(number_, 0, SEEK_CUR); }

namespace {

std::string whole_content(FileDescriptor file) {
  constexpr size_t most_mebibytes = 256;
  std::string content;
  for (size_t size = 0;;) {
    content.resize(size + file_block_bytes);
    const size_t got = file.read(content.data() + size, file_block_bytes);
    size += got;
    content.resize(size);
    if (got == 0) return content;
    require(size <= most_mebibytes << 20, "{} has more than {} MiB, expected a small file", file.name(),
            most_mebibytes);
  }
}

}  // namespace

std::string read_file(const std::string& path) { return whole_content(FileDescriptor::to_read(path)); }

std::string read_regular_file(const std::string& path) {
  require_no_pipe(path);
  auto file = FileDescriptor::to_read(path);
  if (!file.is_regular()) refuse_special(path);
  return whole_content(std::move(file));
}

MappedFile::MappedFile(const std::string& path) {
  require_no_pipe(path);
  map(FileDescriptor::to_read(path));
}

MappedFile::MappedFile(const FileDescriptor& file) { map(file); }

void MappedFile::map(const FileDescriptor& file) {
  if (!file.is_regular()) refuse_special(file.name());
  const size_t size = size_t(file.size());
  if (size == 0) return;  // mmap refuses an empty range
  void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) fail_on(file.name(), "cannot be mapped into memory", errno);
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
  if (buffer_.size() + bytes.size() > file_block_bytes) flush();
  if (bytes.size() > file_block_bytes) return file_.write(bytes);  // weights go straight from memory to the file
  buffer_.append(bytes);
}

void FileWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// The id of the process that wrote the temporary file, if its name starts with this prefix; else 0.
pid_t writer_of(std::string_view name, std::string_view begin) {
  if (!name.starts_with(begin)) return 0;
  name.remove_prefix(begin.size());
  pid_t process = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (problem != std::errc() || process <= 0) return 0;
  name.remove_prefix(size_t(end - name.data()));
  const bool ours = name.size() == 9 && name.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  return ours && name[0] == '-' ? process : 0;
}

// Process ids mean nothing across machines and containers that share a disk, so the lock decides.
void remove_unless_locked(const std::string& path) {
  const int number = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (number < 0) return;
  struct stat status;
  if (fstat(number, &status) == 0 && S_ISREG(status.st_mode) && flock(number, LOCK_EX | LOCK_NB) == 0)
    unlink(path.c_str());
  close(number);
}

// Removes temporary files left by killed writers.
void remove_those_of_dead_writers(const std::string& path) {
  const std::string begin = std::filesystem::path(path).filename().string() + ".tmp-";
  std::error_code failed;
  std::filesystem::directory_iterator file(folder_of(path), failed);
  for (; !failed && file != std::filesystem::directory_iterator(); file.increment(failed)) {
    const pid_t process = writer_of(file->path().filename().native(), begin);
    if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) remove_unless_locked(file->path());
  }
}

}  // namespace

// The temporary file and its removal. Two writers of one target use separate files, and the last rename wins.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path) : path_(target_of(path)), temporary_(beside(path_)), file_(make()) {
    flock(file_.number(), LOCK_EX | LOCK_NB);
    remove_those_of_dead_writers(path_);
  }
  ~AtomicFile() {
    if (!renamed_) unlink(temporary_.c_str());
  }
  FileDescriptor& file() { return file_; }

  void commit() {
    if (file_calls().sync(file_.number()) != 0) fail_on(path_, "writing failed", errno);
    file_.close();
    if (file_calls().rename(temporary_.c_str(), path_.c_str()) != 0) fail_on(path_, "cannot be replaced", errno);
    renamed_ = true;
    sync_folder();
  }

 private:
  static std::string target_of(const std::string& path) {
    std::error_code ignored;
    require(!std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored),
            "{} exists and is not a regular file, so it is not replaced", path);
    return behind_link(path);
  }

  static std::string beside(const std::string& path) {
    return fmt::format("{}.tmp-{}-{:08x}", path, getpid(), std::random_device()());
  }

  FileDescriptor make() const {
    const int number = file_calls().open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number < 0) fail_to_make(path_, errno);
    if (struct stat old; stat(path_.c_str(), &old) == 0)
      fchmod(number, old.st_mode & 0777);  // some file systems refuse it, for they have no permissions
    return {number, FileDescriptor::Access::writing, path_};
  }

  // The rename is durable only once the folder is synced. Some file systems cannot sync a folder and need not.
  void sync_folder() const {
    const int number = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (number < 0) return;
    const int error = file_calls().sync(number) == 0 ? 0 : errno;
    close(number);
    if (error != 0 && error != EINVAL && error != ENOTSUP) fail_on(path_, "writing failed", error);
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
