#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

/// Thrown when the reader at the other end of a pipe has gone (`dragoman translate | head`). That is no error: main()
/// ends the program quietly with exit code 0. Needs SIGPIPE to be ignored, which main() does first.
struct BrokenPipe {};

/// An open file descriptor, closed with the object unless it was borrowed (stdin and stdout are). What a file to write
/// held before stays until the first write, or until close() where nothing is written: a command that fails earlier
/// leaves the file as it was.
class FileDescriptor {
 public:
  static FileDescriptor to_read(const std::string& path);    // "-": stdin
  static FileDescriptor to_write(const std::string& path);   // "-": stdout; else made, or emptied by the first write
  static FileDescriptor to_append(const std::string& path);  // made if it is not there
  FileDescriptor(FileDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)),
        access_(other.access_),
        holds_old_content_(other.holds_old_content_),
        name_(std::move(other.name_)) {}
  FileDescriptor& operator=(FileDescriptor&& other) = delete;
  ~FileDescriptor();  // warns of what close() would have thrown

  size_t read(char* data, size_t bytes);  // at most `bytes`, as soon as there are any; 0 at the end
  bool readable_now() const;              // read() would not wait: there is data, or the end
  void write(std::string_view data);      // all of it, or Error; BrokenPipe
  void close();                           // says what a silent close would hide (a full disk on NFS); once
  bool holds_old_content() const { return holds_old_content_; }  // which the first write removes
  bool is_regular() const;                                       // a file on disk, not a pipe, terminal or device
  int64_t size() const;                                          // bytes of a regular file
  int64_t position() const;  // in a regular file, of the next byte that read() gives
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

/// The whole file as it is. For small files: models are mapped.
std::string read_file(const std::string& path);

/// A regular file mapped into memory, read-only. Pages come from disk when they are first touched and are shared by
/// all processes that map the file. The file must not be truncated while it is mapped (write_atomically never does).
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept : data_(std::exchange(other.data_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~MappedFile();
  std::span<const std::byte> bytes() const { return data_; }
  const std::byte* data() const { return data_.data(); }
  size_t size() const { return data_.size(); }
  /// Says that a part will not be read soon: its pages leave this process's memory, and come again when touched.
  static void let_go(std::span<const std::byte> part);

 private:
  std::span<const std::byte> data_;
};

/// What write_atomically lends to its callback: bytes appended, buffered; Error on the write that fails.
class FileWriter {
 public:
  explicit FileWriter(FileDescriptor& file) : file_(file) {}
  void write(std::string_view bytes);
  void write(const void* data, size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  void flush();

 private:
  FileDescriptor& file_;
  std::string buffer_;
};

/// Writes a file that is there whole or not at all: under a temporary name beside it, fsync, rename, fsync of the
/// folder. When `write` or the disk fails, the temporary file goes, an older file stays as it was, and the exception
/// comes through. A symbolic link is followed. The temporary file is called PATH.tmp-PID-RANDOM; those of writers that
/// were killed are removed by the next writer of the same path.
void write_atomically(const std::string& path, const std::function<void(FileWriter&)>& write);

}  // namespace dragoman
