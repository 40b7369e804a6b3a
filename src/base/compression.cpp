#include "base/compression.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <ios>
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
constexpr uint64_t most_memory = 130 << 20;  // of xz: dictionaries of 128 MiB, which are the limit of zstd's library

[[noreturn]] void refuse_memory(const std::string& file, std::string_view needed, int64_t most,
                                std::string_view again) {
  throw Error(fmt::format("{} needs {} MiB of memory to be decompressed, expected {} MiB at most", file, needed, most),
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
      refuse_memory(file_.name(), std::to_string(mebibytes(int64_t(lzma_memusage(&stream_)))),
                    mebibytes(int64_t(most_memory)), fmt::format("xz -dc {0} | xz -9 >smaller.xz", file_.name()));
    throw std::ios_base::failure("damaged xz data");
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_ret status_ = LZMA_OK;
};

// Boost's zstd filter takes a truncated file for a whole one, and keeps text back.
class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(FileDescriptor& file) : Decompressor(file), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

 protected:
  size_t decode(char* data, size_t bytes) override {
    ZSTD_outBuffer out{data, bytes, 0};
    // Each step completes at most one block, since what a step that finds damage has decoded is lost.
    if (!ZSTD_isError(wanted_) && wanted_ > 0) step(out, 0);
    while (!ZSTD_isError(wanted_) && out.pos < bytes && !input_.empty()) step(out, std::max<size_t>(wanted_, 1));
    if (out.pos == 0) check();
    return out.pos;
  }

 private:
  // Decodes what the decoder still holds, then up to `most` bytes of the input.
  void step(ZSTD_outBuffer& out, size_t most) {
    ZSTD_inBuffer in{input_.data(), std::min(most, input_.size()), 0};
    wanted_ = ZSTD_decompressStream(stream_, &out, &in);
    input_.remove_prefix(in.pos);
  }

  void check() const {
    if (ZSTD_getErrorCode(wanted_) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_getErrorCode(wanted_) == ZSTD_error_frameParameter_windowTooLarge)
      refuse_memory(file_.name(), "more than 128", 128,
                    fmt::format("zstd -dc --long=31 {} | zstd -19 >smaller.zst", file_.name()));
    const bool truncated = at_end_ && wanted_ > 0;
    if (ZSTD_isError(wanted_) || truncated) throw std::ios_base::failure("damaged or truncated zstd data");
  }

  ZSTD_DStream* stream_;
  size_t wanted_ = 1;  // how much input it asks for, 0 between two frames; or an error
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
