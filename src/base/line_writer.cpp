#include "base/line_writer.h"

#include <filesystem>

namespace dragoman {

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

void write_lines_atomically(const std::string& path, const std::function<void(LineWriter&)>& write) {
  const auto write_all = [&](LineWriter out) {
    write(out);
    out.close();
  };
  if (path == "-" || (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)))
    return write_all(LineWriter(path));
  write_atomically(path, [&](FileWriter& file) { write_all(LineWriter(file.file(), compression_of(path))); });
}

}  // namespace dragoman
