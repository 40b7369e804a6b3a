#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

/// Thrown when the reader of a pipe has closed it (`dragoman translate | head`). This is not an error: main() exits
/// quietly with code 0. Needs SIGPIPE to be ignored, which main() does first.
struct BrokenPipe {};

/// An open file descriptor, closed with the object unless borrowed (stdin and stdout are). An existing file opened for
/// writing keeps its content until the first write, or until close() if nothing is written, so a command that fails
/// earlier leaves it unchanged.
class FileDescriptor {
 public:
  static FileDescriptor to_read(const std::string& path);    // "-": stdin
  static FileDescriptor to_write(const std::string& path);   // "-", /dev/stdout: stdout; else emptied by a write
  static FileDescriptor to_append(const std::string& path);  // created if missing
  /// The same for lines. A killed process may have left half a line: the next one then begins on a line of its own.
  static FileDescriptor to_append_lines(const std::string& path);
  /// An empty file without a path, in memory that is freed with its last descriptor and mapping. `name` is for
  /// messages.
  static FileDescriptor in_memory(const std::string& name);
  FileDescriptor(FileDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)),
        access_(other.access_),
        holds_old_content_(other.holds_old_content_),
        name_(std::move(other.name_)) {}
  FileDescriptor& operator=(FileDescriptor&& other) = delete;
  ~FileDescriptor();  // logs errors of close() as warnings

  size_t read(char* data, size_t bytes);         // up to `bytes`, as soon as any are available; 0 at the end
  bool readable_within(int milliseconds) const;  // by then, read() would not block: data or the end is available
  void write(std::string_view data);             // everything, or throws Error or BrokenPipe
  void close();                                  // throws errors that appear only at close (a full disk on NFS); once
  bool holds_old_content() const { return holds_old_content_; }  // removed by the first write
  bool is_regular() const;                                       // a file on disk, not a pipe, terminal or device
  int64_t size() const;                                          // bytes of a regular file
  int64_t position() const;                                      // of the next byte to read in a regular file
  int number() const { return number_; }
  const std::string& name() const { return name_; }  // for messages: the path, "stdin" or "stdout"

 private:
  friend class AtomicFile;
  enum class Access { borrowed, reading, writing };
  FileDescriptor(int number, Access access, std::string name)
      : number_(number), access_(access), name_(std::move(name)) {}
  void remove_old_content();
  int number_;
  Access access_;
  bool holds_old_content_ = false;
  std::string name_;
};

/// Stdin ("-") or a named pipe: can be read only once, and opening it may wait for a writer.
bool is_pipe(const std::string& path);

/// The whole file. For small files; models are mapped. Error for more than 256 MiB: a device or a pipe may never end.
std::string read_file(const std::string& path);

/// The same for a file of a model, which must be a regular one: a pipe might never be written to.
std::string read_regular_file(const std::string& path);

/// A regular file mapped into memory, read-only. Pages come from disk when they are first touched and are shared by
/// all processes that map the file. The file must not be truncated while it is mapped (write_atomically never does).
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  explicit MappedFile(const FileDescriptor& file);  // which may then be closed
  MappedFile(MappedFile&& other) noexcept : data_(std::exchange(other.data_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~MappedFile();
  std::span<const std::byte> bytes() const { return data_; }
  const std::byte* data() const { return data_.data(); }
  size_t size() const { return data_.size(); }
  /// Hints that a range will not be read soon. Its pages leave this process's memory and are reloaded when touched.
  static void let_go(std::span<const std::byte> part);

 private:
  void map(const FileDescriptor& file);
  std::span<const std::byte> data_;
};

/// What write_atomically passes to its callback: appends bytes, buffered; throws Error if a write fails.
class FileWriter {
 public:
  explicit FileWriter(FileDescriptor& file) : file_(file) {}
  void write(std::string_view bytes);
  void write(const void* data, size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  void flush();
  FileDescriptor& file() { return file_; }  // for those who buffer themselves

 private:
  FileDescriptor& file_;
  std::string buffer_;
};

/// Writes a file completely or not at all: writes a temporary file beside it, then fsync, rename, fsync of the folder.
/// If `write` or the disk fails, the temporary file is removed, an existing file is unchanged, and the exception
/// propagates. Symbolic links are followed; a file that is replaced keeps its permissions. The temporary file is called
/// PATH.tmp-PID-RANDOM; files left by killed writers are removed by the next writer of the same path.
void write_atomically(const std::string& path, const std::function<void(FileWriter&)>& write);

}  // namespace dragoman
