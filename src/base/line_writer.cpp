#include "base/line_writer.h"

namespace dragoman {

constexpr size_t output_block_bytes = 1 << 16;

LineWriter::LineWriter(const std::string& path)
    : file_(std::make_unique<FileDescriptor>(FileDescriptor::to_write(path))) {
  const Compression compression = compression_of(path);
  if (compression != Compression::none) compressor_ = compress(*file_, compression);
}

LineWriter::LineWriter(std::string& text) : text_(&text) {}

LineWriter::~LineWriter() {
  if (!file_ || file_->holds_old_content()) return;  // moved from, or left by an exception before the first output
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
  file_->close();
}

}  // namespace dragoman
