#include "base/compression.h"

#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <exception>
#include <ios>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/grouped.h"

namespace dragoman {
namespace {

namespace io = boost::iostreams;
constexpr std::streamsize buffer_bytes = 1 << 16;

// The window that a file declares determines how much memory decompressing it takes. gzip's is always 32 KiB; all
// presets of xz and zstd stay within these limits.
constexpr uint64_t most_memory = 130 << 20;   // of xz: dictionaries of 128 MiB
constexpr uint64_t largest_window = 1 << 27;  // of zstd, whose library takes no larger one either

[[noreturn]] void refuse_memory(const std::string& file, uint64_t needed, uint64_t most, std::string_view again) {
  throw Error(fmt::format("{} needs {} MiB of memory to be decompressed, expected {} MiB at most", file,
                          mebibytes(int64_t(needed)), mebibytes(int64_t(most))),
              fmt::format("compress it again with a smaller dictionary or window: {}", again));
}

// Our descriptors as Boost devices, so that their exceptions propagate.
struct Sink {
  using char_type = char;
  using category = io::sink_tag;
  FileDescriptor* file;
  std::streamsize write(const char* data, std::streamsize bytes) {
    file->write({data, size_t(bytes)});
    return bytes;
  }
};

// Boost's gzip filter refuses the zeros that may pad a file, and does not check the length of the data.
class GzipDecompressor : public Decompressor {
 public:
  explicit GzipDecompressor(FileDescriptor& file) : Decompressor(file) {
    constexpr int gzip_header = 16;
    check(inflateInit2(&stream_, MAX_WBITS + gzip_header));
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }

 protected:
  size_t decode(char* data, size_t bytes) override {
    stream_.next_out = reinterpret_cast<Bytef*>(data);
    stream_.avail_out = uInt(bytes);
    while (stream_.avail_out == bytes && (status_ != Z_STREAM_END || begin_member())) {
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));  // zlib only reads them
      stream_.avail_in = uInt(input_.size());
      status_ = inflate(&stream_, Z_NO_FLUSH);
      input_.remove_prefix(input_.size() - stream_.avail_in);
      if (status_ == Z_BUF_ERROR && !at_end_) break;   // it needs more input
      if (stream_.avail_out == bytes) check(status_);  // else the next call does: an error recurs
    }
    return bytes - stream_.avail_out;
  }

 private:
  // After the end of a compressed file: begins another one that follows, or makes sure that nothing but zeros does.
  bool begin_member() {
    constexpr char first_byte = 0x1f;
    if (!padded_ && input_.starts_with(first_byte)) {
      check(status_ = inflateReset(&stream_));
      return true;
    }
    if (input_.find_first_not_of('\0') != input_.npos)
      throw Error(file_.name() + ": bytes that are no gzip data follow its end",
                  fmt::format("gzip -dc {} | gzip >whole.gz leaves them out", file_.name()));
    padded_ = padded_ || !input_.empty();
    input_ = {};
    return false;
  }

  static void check(int status) {
    if (status == Z_OK || status == Z_STREAM_END) return;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    throw std::ios_base::failure("damaged or truncated gzip data");
  }

  z_stream stream_{};
  int status_ = Z_OK;
  bool padded_ = false;
};

// Boost's xz filter does not say why it fails.
class XzDecompressor : public Decompressor {
 public:
  explicit XzDecompressor(FileDescriptor& file) : Decompressor(file) {
    check(lzma_stream_decoder(&stream_, most_memory, LZMA_CONCATENATED));
  }
  ~XzDecompressor() override { lzma_end(&stream_); }

 protected:
  size_t decode(char* data, size_t bytes) override {
    stream_.next_in = reinterpret_cast<const uint8_t*>(input_.data());
    stream_.avail_in = input_.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(data);
    stream_.avail_out = bytes;
    do {
      if (status_ == LZMA_OK) status_ = lzma_code(&stream_, at_end_ ? LZMA_FINISH : LZMA_RUN);
    } while (status_ == LZMA_OK && stream_.avail_out > 0 && (stream_.avail_in > 0 || at_end_));
    input_.remove_prefix(input_.size() - stream_.avail_in);
    const size_t got = bytes - stream_.avail_out;
    if (got == 0) check(status_);
    return got;
  }

 private:
  void check(lzma_ret status) {
    if (status == LZMA_OK || status == LZMA_STREAM_END) return;
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status == LZMA_MEMLIMIT_ERROR)
      refuse_memory(file_.name(), lzma_memusage(&stream_), most_memory,
                    fmt::format("xz -dc {0} | xz -9 >smaller.xz", file_.name()));
    throw std::ios_base::failure("damaged xz data");
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_ret status_ = LZMA_OK;
};

// Boost's filter returns nothing of a call in which it finds damage, so its calls are small. What it holds back when
// the output is full, at most a block, comes with the next input or at the end.
class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(FileDescriptor& file) : Decompressor(file), filter_(buffer_bytes) {}

 protected:
  size_t decode(char* data, size_t bytes) override {
    constexpr size_t step = 4096;
    if (damage_) std::rethrow_exception(damage_);
    Input input{input_, at_end_};
    size_t got = 0;
    try {
      for (std::streamsize more = 1; more > 0 && got < bytes; got += size_t(std::max(more, std::streamsize{0})))
        more = filter_.read(input, data + got, std::streamsize(std::min(step, bytes - got)));
    } catch (const std::ios_base::failure&) {
      if (got == 0) throw;
      damage_ = std::current_exception();
    }
    return got;
  }

 private:
  // What Boost's filter reads: 0 is that there is no more yet, -1 the end.
  struct Input {
    using char_type = char;
    using category = io::source_tag;
    std::string_view& text;
    bool at_end;
    std::streamsize read(char* data, std::streamsize bytes) {
      if (text.empty()) return at_end ? -1 : 0;
      const size_t copied = text.copy(data, size_t(bytes));
      text.remove_prefix(copied);
      return std::streamsize(copied);
    }
  };

  io::zstd_decompressor filter_;
  std::exception_ptr damage_;
};

// Drives a Boost filter directly: a filtering_ostreambuf would swallow exceptions when it is closed.
template <class Filter>
class FilterCompressor : public Compressor {
 public:
  FilterCompressor(FileDescriptor& file, Filter filter) : sink_{&file}, filter_(std::move(filter)) {}

  void write(std::string_view data) override {
    while (!data.empty()) {
      const std::streamsize taken = filter_.write(sink_, data.data(), std::streamsize(data.size()));
      invariant(taken > 0, "a compressor consumes its input");
      data.remove_prefix(size_t(taken));
    }
  }

  void finish() override { filter_.close(sink_, std::ios_base::out); }

 private:
  Sink sink_;
  Filter filter_;
};

// Walks the frames of a zstd file (RFC 8878, section 3.1) without decompressing, using the length in each block header.
class ZstdWalk {
 public:
  explicit ZstdWalk(const FileDescriptor& file) : file_(file), size_(file.size()) {}

  // Whether the file consists of one or more complete frames.
  bool is_whole() {
    do {
      if (!pass_frame()) return false;
    } while (at_ < size_);
    return at_ == size_;
  }

  // The largest window of the frames passed, in bytes.
  uint64_t window() const { return window_; }

 private:
  // The next little-endian number of `bytes` bytes; none past the end of the file.
  std::optional<uint64_t> take(int bytes) {
    std::array<uint8_t, 8> raw{};
    if (pread(file_.number(), raw.data(), size_t(bytes), at_) != bytes) return std::nullopt;
    at_ += bytes;
    uint64_t number = 0;
    for (size_t i = raw.size(); i-- > 0;) number = number << 8 | raw[i];
    return number;
  }

  bool pass_frame() {
    const auto magic = take(4);
    if (magic && (*magic & 0xFFFFFFF0) == 0x184D2A50) {  // a skippable frame
      const auto bytes = take(4);
      at_ += int64_t(bytes.value_or(0));
      return bytes.has_value();
    }
    if (magic && magic != 0xFD2FB528) {  // not zstd: the decoder reports it better
      at_ = size_;
      return true;
    }
    const auto descriptor = magic ? take(1) : std::nullopt;
    if (!descriptor) return false;
    const bool single_segment = *descriptor & 0x20, checksum = *descriptor & 0x04;
    constexpr int dictionary_bytes[] = {0, 1, 2, 4}, size_bytes[] = {0, 2, 4, 8};
    const auto window = single_segment ? 0 : take(1);
    at_ += dictionary_bytes[*descriptor & 3];
    const auto content = take(*descriptor >> 6 == 0 ? single_segment : size_bytes[*descriptor >> 6]);
    if (!window || !content) return false;
    const uint64_t smallest = uint64_t{1024} << (*window >> 3);
    window_ = std::max(window_, single_segment ? *content : smallest + smallest / 8 * (*window & 7));
    for (bool last = false; !last;) {
      const auto block = take(3);
      if (!block) return false;
      last = *block & 1;
      const bool repeats_one_byte = (*block >> 1 & 3) == 1;
      at_ += repeats_one_byte ? 1 : int64_t(*block >> 3);
    }
    at_ += checksum ? 4 : 0;
    return true;
  }

  const FileDescriptor& file_;
  const int64_t size_;
  int64_t at_ = 0;
  uint64_t window_ = 0;
};

void check_frames(const FileDescriptor& file) {
  ZstdWalk walk(file);
  const bool whole = walk.is_whole();
  if (walk.window() > largest_window)
    refuse_memory(file.name(), walk.window(), largest_window,
                  fmt::format("zstd -dc --long=31 {} | zstd -19 >smaller.zst", file.name()));
  if (!whole)
    throw Error(file.name() + " ends in the middle of its compressed data", "download it again; zstd -t tests it");
}

}  // namespace

Compression compression_of(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".gz")) return Compression::gzip;
  if (name.ends_with(".xz")) return Compression::xz;
  if (name.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

Decompressor::Decompressor(FileDescriptor& file) : file_(file), in_(buffer_bytes) {}

size_t Decompressor::read(char* data, size_t bytes) {
  if (reads_file()) {
    input_ = {in_.data(), file_.read(in_.data(), in_.size())};
    at_end_ = input_.empty();
  }
  const size_t got = decode(data, bytes);
  drained_ = got < bytes;
  ended_ = got == 0 && at_end_;
  return got;
}

std::unique_ptr<Decompressor> decompress(FileDescriptor& file, Compression compression) {
  if (compression == Compression::zstd && file.is_regular()) check_frames(file);
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<GzipDecompressor>(file);
    case Compression::xz:
      return std::make_unique<XzDecompressor>(file);
    case Compression::zstd:
      return std::make_unique<ZstdDecompressor>(file);
    case Compression::none:
      break;
  }
  return nullptr;
}

std::unique_ptr<Compressor> compress(FileDescriptor& file, Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<FilterCompressor<io::gzip_compressor>>(
          file, io::gzip_compressor(io::gzip_params(), buffer_bytes));
    case Compression::xz:
      return std::make_unique<FilterCompressor<io::lzma_compressor>>(
          file, io::lzma_compressor(io::lzma_params(), buffer_bytes));
    case Compression::zstd:
      return std::make_unique<FilterCompressor<io::zstd_compressor>>(
          file, io::zstd_compressor(io::zstd_params(), buffer_bytes));
    case Compression::none:
      break;
  }
  return nullptr;
}

}  // namespace dragoman
