#include "base/line_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/symbolic_links.h"

namespace dragoman {

namespace fs = std::filesystem;

constexpr size_t output_block_bytes = 1 << 16;

LineWriter::LineWriter(const std::string& path)
    : owned_(std::make_unique<FileDescriptor>(FileDescriptor::to_write(path))),
      file_(owned_.get()),
      compressor_(compress(*file_, compression_of(path))) {}

LineWriter::LineWriter(FileDescriptor& file, Compression compression)
    : file_(&file), compressor_(compress(file, compression)) {}

LineWriter::LineWriter(std::string& text) : text_(&text) {}

LineWriter::~LineWriter() {
  if (!owned_ || owned_->holds_old_content())
    return;  // borrowed, moved from, or left by an exception before the first output
  try {
    close();
  } catch (...) {  // either another exception is propagating, or the caller skipped close()
  }
}

void LineWriter::write(std::string_view line) {
  buffer_.append(line).push_back('\n');
  if (buffer_.size() >= output_block_bytes) flush();
}

void LineWriter::write_segment(std::string_view part) {
  buffer_.append(part);
  if (buffer_.size() >= output_block_bytes) flush();
}

void LineWriter::flush() {
  const std::string data = std::exchange(buffer_, {});  // the destructor must not retry a failed write
  if (text_)
    text_->append(data);
  else if (compressor_)
    compressor_->write(data);
  else
    file_->write(data);
}

void LineWriter::close() {
  flush();
  if (text_) return;
  if (const auto compressor = std::exchange(compressor_, nullptr)) compressor->finish();
  if (owned_) owned_->close();
}

namespace {

bool may_write(const fs::path& path) { return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

// A single file may be mounted, such as into a container, and nothing can replace it there.
bool is_mounted(const std::string& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status;
  return statx(AT_FDCWD, path.c_str(), 0, 0, &status) == 0 && (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  return false;
#endif
}

}  // namespace

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  LineWriter file(path);
  for (const std::string& line : lines) file.write(line);
  file.close();
}

bool is_written_in_place(const std::string& path) {
  std::error_code missing;
  if (path == "-" || leads_into_proc(path)) return true;
  if (!fs::exists(path, missing)) return false;
  if (fs::is_directory(path)) return false;
  return !fs::is_regular_file(path) || is_mounted(path) ||
         (may_write(path) && !may_write(without_links(path).parent_path()));
}

void write_lines_atomically(const std::string& path, const std::function<void(LineWriter&)>& write) {
  const auto write_all = [&](LineWriter out) {
    write(out);
    out.close();
  };
  if (is_written_in_place(path)) return write_all(LineWriter(path));
  write_atomically(path, [&](FileWriter& file) { write_all(LineWriter(file.file(), compression_of(path))); });
}

}  // namespace dragoman
