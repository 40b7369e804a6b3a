#include "base/line_reader.h"

#include <algorithm>
#include <cstring>
#include <ios>
#include <utility>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/log.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr size_t input_block_bytes =
    1 << 18;  // fits the L2 cache, so a block is still cached when its lines are copied

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

// Cuts before the last blank of the second half of the allowed range, else between two characters.
size_t cut_position(std::string_view text, size_t longest) {
  const size_t blank = text.rfind(' ', longest - 1);
  if (blank != std::string_view::npos && blank >= longest / 2) return blank;
  size_t at = longest;
  while (at > longest - 3 && continues_character(text[at])) --at;
  return at;
}

}  // namespace

LineReader::LineReader(const std::string& path, std::string_view with)
    : with_(with), file_(std::make_unique<FileDescriptor>(FileDescriptor::to_read(path))), buffer_(input_block_bytes) {
  const Compression compression = compression_of(path);
  if (compression != Compression::none) decompressor_ = decompress(*file_, compression);
}

bool LineReader::next(std::string& line) {
  bool more = false;
  if (!next_segment(line, longest_line, more)) return false;
  if (more) throw too_long();
  return true;
}

Error LineReader::too_long() const {
  return Error(fmt::format("{}: line {} is longer than {} MiB", name(), lines_, longest_line >> 20),
               fmt::format("expected text with {}; split the line", with_));
}

bool LineReader::next_segment(std::string& part, size_t longest, bool& more) {
  while (!find_line_end() && searched_ - begin_ <= longest && fill()) {}
  if (begin_ == end_ && !within_line_) {  // the dropped blank may have been the last byte
    report_invalid();
    return false;
  }
  std::string_view rest(buffer_.data() + begin_, searched_ - begin_);  // the buffered start of the line
  if (!within_line_) ++lines_;
  more = within_line_ = rest.size() > longest;
  if (more) {
    part = rest.substr(0, cut_position(rest, longest));
    begin_ += part.size() + (rest[part.size()] == ' ');
  } else {
    begin_ = searched_ = std::min(searched_ + 1, end_);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    part = rest;
  }
  clean(part);
  return true;
}

bool LineReader::next_short(std::string& line, size_t longest) {
  bool more = false;
  const bool found = next_segment(line, longest, more);
  require(!more, "{}, line {}: has more than {} bytes, the limit for this file", name(), lines_, longest);
  return found;
}

bool LineReader::ready(size_t longest) {
  longest = std::min(longest, longest_line);
  while (!at_end_ && !find_line_end() && searched_ - begin_ <= longest) {
    const bool reads_file = !decompressor_ || decompressor_->reads_file();
    if (failure_ || (reads_file && !file_->readable_within(0))) return false;
    try {
      fill();
    } catch (const Error&) {
      failure_ = std::current_exception();
    }
  }
  return true;
}

bool LineReader::wait(const std::stop_token& stop) {
  constexpr int between_looks = 100;  // milliseconds
  while (!ready() && !failure_) {
    if (stop.stop_requested()) return false;
    file_->readable_within(between_looks);
  }
  return true;
}

double LineReader::share() const {
  if (!file_->is_regular() || file_->size() == 0) return -1;
  const auto unread = decompressor_ ? 0 : int64_t(end_ - begin_);
  return double(file_->position() - unread) / double(file_->size());
}

// Moves searched_ to the next '\n'; to end_ if there is none.
bool LineReader::find_line_end() {
  const void* found = std::memchr(buffer_.data() + searched_, '\n', end_ - searched_);
  searched_ = found ? size_t(static_cast<const char*>(found) - buffer_.data()) : end_;
  return found != nullptr;
}

// Appends what the input has to the buffered data, reading the file at most once; false at the end of the input. A line
// longer than the buffer doubles it.
bool LineReader::fill() {
  if (failure_) std::rethrow_exception(failure_);
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
  if (lines_ == 0 && !has_mark_) check_begin();
  at_end_ = decompressor_ ? decompressor_->ended() : got == 0;
  return !at_end_;
}

size_t LineReader::read_block(char* data, size_t bytes) {
  if (!decompressor_) return file_->read(data, bytes);
  try {
    return decompressor_->read(data, bytes);
  } catch (const std::ios_base::failure&) {
    const std::string program = tester(compression_of(name()));
    throw Error(fmt::format("{}: damaged or truncated {} data after line {}", name(), program, lines_ - within_line_),
                fmt::format("download it again; {} -t {} tests it", program, name()));
  }
}

// Called for each block until a line is returned, as a pipe may deliver the first bytes one by one.
void LineReader::check_begin() {
  const std::string_view text(buffer_.data(), end_);
  refuse_binary(text);
  // In UTF-16, Latin letters and line ends contain a zero byte. Without a zero byte, the mark is two ill-formed bytes.
  if ((text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) && text.find('\0') != text.npos)
    throw Error(name() + " begins with a byte-order mark of UTF-16, expected text in UTF-8",
                "convert it: iconv -f UTF-16 -t UTF-8");
  has_mark_ = text.starts_with(byte_order_mark);
  if (has_mark_) begin_ = searched_ = byte_order_mark.size();
}

// Rejects models, archives, and compressed text whose name lacks the ending. Text never starts with such bytes.
void LineReader::refuse_binary(std::string_view begin) const {
  const std::string_view kind = kind_of_binary(begin);
  if (kind.empty()) return;
  const std::string text_expected = "give a text file with " + with_;
  if (decompressor_)
    throw Error(fmt::format("{} is {}, compressed, expected compressed text", name(), kind), text_expected);
  for (const auto& [data, hint] :
       {std::pair("gzip data", "give a file whose name ends in .gz, or pipe in the output of gzip -dc"),
        std::pair("xz data", "give a file whose name ends in .xz, or pipe in the output of xz -dc"),
        std::pair("zstd data", "give a file whose name ends in .zst, or pipe in the output of zstd -dc"),
        std::pair("bzip2 data", "pipe in the output of bzip2 -dc")})
    if (kind == data) throw Error(fmt::format("{} holds {}, expected text", name(), kind), hint);
  throw Error(fmt::format("{} is {}, expected text", name(), kind), text_expected);
}

void LineReader::clean(std::string& line) {
  if (!clean_utf8(line)) return;
  if (std::exchange(last_invalid_line_, lines_) == lines_) return;
  if (invalid_lines_++ == 0) first_invalid_line_ = lines_;
}

void LineReader::report_invalid() {
  if (invalid_lines_ == 0 || std::exchange(reported_, true)) return;
  log_warning("{}: {} {} not valid UTF-8, the first is line {}; invalid bytes were replaced by U+FFFD", name(),
              invalid_lines_, invalid_lines_ == 1 ? "line is" : "lines are", first_invalid_line_);
}

}  // namespace dragoman
