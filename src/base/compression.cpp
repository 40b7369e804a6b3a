#include "base/compression.h"

#include <unistd.h>

#include <array>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace dragoman {
namespace {

namespace io = boost::iostreams;
constexpr std::streamsize buffer_bytes = 1 << 16;

// Our descriptors as Boost devices, so that their exceptions propagate.
struct Source {
  using char_type = char;
  using category = io::source_tag;
  FileDescriptor* file;
  std::streamsize read(char* data, std::streamsize bytes) {
    const auto got = std::streamsize(file->read(data, size_t(bytes)));
    return got == 0 ? -1 : got;  // -1 is Boost's end of file
  }
};

struct Sink {
  using char_type = char;
  using category = io::sink_tag;
  FileDescriptor* file;
  std::streamsize write(const char* data, std::streamsize bytes) {
    file->write({data, size_t(bytes)});
    return bytes;
  }
};

// Drives a Boost filter directly: a filtering_ostreambuf would swallow exceptions when it is closed.
template <class Filter>
class FilterEncoder : public Encoder {
 public:
  FilterEncoder(FileDescriptor& file, Filter filter) : sink_{&file}, filter_(std::move(filter)) {}

  void write(std::string_view data) override {
    while (!data.empty()) {
      const std::streamsize taken = filter_.write(sink_, data.data(), std::streamsize(data.size()));
      invariant(taken > 0, "a compressor takes what it is given");
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

 private:
  // The next little-endian number of `bytes` bytes; none past the end of the file.
  std::optional<uint32_t> take(int bytes) {
    std::array<uint8_t, 4> raw{};
    if (pread(file_.number(), raw.data(), size_t(bytes), at_) != bytes) return std::nullopt;
    at_ += bytes;
    return raw[0] | raw[1] << 8 | raw[2] << 16 | uint32_t(raw[3]) << 24;
  }

  bool pass_frame() {
    const auto magic = take(4);
    if (magic && (*magic & 0xFFFFFFF0) == 0x184D2A50) {  // a skippable frame
      const auto bytes = take(4);
      at_ += bytes.value_or(0);
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
    at_ += dictionary_bytes[*descriptor & 3] + (single_segment ? 0 : 1);
    at_ += *descriptor >> 6 == 0 ? single_segment : size_bytes[*descriptor >> 6];
    for (bool last = false; !last;) {
      const auto block = take(3);
      if (!block) return false;
      last = *block & 1;
      const bool repeats_one_byte = (*block >> 1 & 3) == 1;
      at_ += repeats_one_byte ? 1 : *block >> 3;
    }
    at_ += checksum ? 4 : 0;
    return true;
  }

  const FileDescriptor& file_;
  const int64_t size_;
  int64_t at_ = 0;
};

}  // namespace

Compression compression_of(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".gz")) return Compression::gzip;
  if (name.ends_with(".xz")) return Compression::xz;
  if (name.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

std::unique_ptr<std::streambuf> decompress(FileDescriptor& file, Compression compression) {
  if (compression == Compression::zstd && file.is_regular() && !ZstdWalk(file).is_whole())
    throw Error(file.name() + " ends in the middle of its compressed data", "fetch it again; zstd -t tests it");
  auto chain = std::make_unique<io::filtering_istreambuf>();
  switch (compression) {
    case Compression::gzip:
      chain->push(io::gzip_decompressor(io::zlib::default_window_bits, buffer_bytes));
      break;
    case Compression::xz:
      chain->push(io::lzma_decompressor(buffer_bytes));
      break;
    case Compression::zstd:
      chain->push(io::zstd_decompressor(buffer_bytes));
      break;
    case Compression::none:
      break;
  }
  chain->push(Source{&file}, buffer_bytes);
  return chain;
}

std::unique_ptr<Encoder> compress(FileDescriptor& file, Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<FilterEncoder<io::gzip_compressor>>(file,
                                                                  io::gzip_compressor(io::gzip_params(), buffer_bytes));
    case Compression::xz:
      return std::make_unique<FilterEncoder<io::lzma_compressor>>(file,
                                                                  io::lzma_compressor(io::lzma_params(), buffer_bytes));
    case Compression::zstd:
      return std::make_unique<FilterEncoder<io::zstd_compressor>>(file,
                                                                  io::zstd_compressor(io::zstd_params(), buffer_bytes));
    case Compression::none:
      break;
  }
  return nullptr;
}

}  // namespace dragoman
