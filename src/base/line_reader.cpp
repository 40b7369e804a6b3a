#include "base/line_reader.h"

#include <algorithm>
#include <cstring>
#include <ios>
#include <utility>

#include "base/compression.h"
#include "base/error.h"
#include "base/log.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t block_bytes = 1 << 18;  // fits the L2 cache, so that a block is still there when its lines are copied

std::string tester(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return "gzip";
    case Compression::xz:
      return "xz";
    default:
      return "zstd";
  }
}

}  // namespace

LineReader::LineReader(const std::string& path)
    : file_(std::make_unique<FileDescriptor>(FileDescriptor::to_read(path))), buffer_(block_bytes) {
  const Compression compression = compression_of(path);
  if (compression != Compression::none) decoder_ = decompress(*file_, compression);
}

bool LineReader::next(std::string& line) {
  while (!find_line_end() && fill()) {}
  if (begin_ == end_) {
    report_invalid();
    return false;
  }
  const size_t stop = searched_;  // of '\n', or of the text
  size_t length = stop - begin_;
  if (length > 0 && buffer_[stop - 1] == '\r') --length;
  line.assign(buffer_.data() + begin_, length);
  begin_ = searched_ = stop == end_ ? end_ : stop + 1;
  ++lines_;
  clean(line);
  return true;
}

bool LineReader::ready() {
  while (!at_end_ && !find_line_end()) {
    if (!decoder_ && !file_->readable_now()) return false;
    fill();
  }
  return true;
}

// Moves searched_ to the next '\n'; to end_ if there is none.
bool LineReader::find_line_end() {
  const void* found = std::memchr(buffer_.data() + searched_, '\n', end_ - searched_);
  searched_ = found ? size_t(static_cast<const char*>(found) - buffer_.data()) : end_;
  return found != nullptr;
}

// Reads one block behind what is there; false at the end of the input. A line longer than the buffer doubles it.
bool LineReader::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    searched_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const size_t got = read_block(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  if (got > 0) return true;
  at_end_ = true;
  return false;
}

size_t LineReader::read_block(char* data, size_t bytes) {
  if (!decoder_) return file_->read(data, bytes);
  try {
    return size_t(std::max<std::streamsize>(0, decoder_->sgetn(data, std::streamsize(bytes))));
  } catch (const std::ios_base::failure&) {
    const std::string program = tester(compression_of(name()));
    throw Error(fmt::format("{}: damaged or cut-off {} data after line {}", name(), program, lines_),
                fmt::format("fetch it again; {} -t {} tests it", program, name()));
  }
}

void LineReader::clean(std::string& line) {
  if (!clean_utf8(line)) return;
  if (invalid_lines_++ == 0) first_invalid_line_ = lines_;
}

void LineReader::report_invalid() {
  if (invalid_lines_ == 0 || std::exchange(reported_, true)) return;
  spdlog::warn("{}: {} {} not valid UTF-8, the first is line {}; the bad bytes were replaced by U+FFFD", name(),
               invalid_lines_, invalid_lines_ == 1 ? "line is" : "lines are", first_invalid_line_);
}

std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

}  // namespace dragoman
