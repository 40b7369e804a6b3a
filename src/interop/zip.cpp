#include "interop/zip.h"

#include <fmt/format.h>
#include <unzip.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"

namespace dragoman {
namespace {

// Deflate expands data at most 1,032 times, so a larger size is wrong or a zip bomb.
constexpr uint64_t most_expansion = 1100;

// Texts and pickles of real models are stored as they are, or shrink at most to a tenth; compressed ones are far below
// 16 MiB. Those stored as they are may have any size, as the archive has it too.
uint64_t most_parsed(uint64_t compressed) {
  constexpr uint64_t MiB = 1 << 20;
  return std::max(compressed, std::min(16 * MiB, MiB + 50 * compressed));
}

uLong crc32_of(std::span<const std::byte> bytes) {
  uLong sum = crc32(0, nullptr, 0);
  constexpr size_t block = 1 << 24;
  for (size_t from = 0; from < bytes.size(); from += block) {
    const auto part = bytes.subspan(from, std::min(block, bytes.size() - from));
    sum = crc32(sum, reinterpret_cast<const Bytef*>(part.data()), uInt(part.size()));
    MappedFile::let_go(part);
  }
  return sum;
}

}  // namespace

struct ZipFile::Archive {
  std::string path;
  MappedFile file;
  unzFile zip = nullptr;
  std::vector<Entry> entries;
  std::vector<unz64_file_pos> positions;                          // of the entries
  std::unordered_map<std::string, size_t> indices;                // of the entries
  std::unordered_map<size_t, std::span<const std::byte>> stored;  // of the entries that were verified
  std::mutex mutex;

  // Throws, with the reason, if the file cannot be read.
  explicit Archive(const std::string& of_archive) : path(of_archive), file(of_archive) {}
  Archive(const Archive&) = delete;
  ~Archive() {
    if (zip) unzClose(zip);
  }
};

ZipFile::ZipFile(const std::string& path) : archive_(std::make_shared<Archive>(path)) {
  archive_->zip = unzOpen64(path.c_str());
  require(archive_->zip != nullptr, "{} is not a readable zip archive, or is truncated", path);
  unz_global_info64 all;
  require(unzGetGlobalInfo64(archive_->zip, &all) == UNZ_OK, "{}: the archive is damaged", path);
  for (uint64_t i = 0; i < all.number_entry; ++i) {
    unz_file_info64 status;
    std::array<char, 4096> name = {};
    unz64_file_pos position;
    const bool known = (i == 0 ? unzGoToFirstFile(archive_->zip) : unzGoToNextFile(archive_->zip)) == UNZ_OK &&
                       unzGetCurrentFileInfo64(archive_->zip, &status, name.data(), name.size() - 1, nullptr, 0,
                                               nullptr, 0) == UNZ_OK &&
                       unzGetFilePos64(archive_->zip, &position) == UNZ_OK;
    require(known, "{}: entry {} of the archive is damaged", path, i);
    require(status.compressed_size <= archive_->file.size() &&
                status.uncompressed_size <= (status.compressed_size + 1) * most_expansion,
            "{}: {} claims to have {} bytes, decompressed from {}", path, name.data(), status.uncompressed_size,
            status.compressed_size);
    const bool is_new = archive_->indices.emplace(name.data(), archive_->entries.size()).second;
    require(is_new || std::string_view(name.data()).ends_with('/'), "{}: the archive has two entries named {}", path,
            name.data());  // of a folder, nothing is read
    archive_->entries.push_back({name.data(), status.uncompressed_size, status.compressed_size});
    archive_->positions.push_back(position);
  }
}

const std::string& ZipFile::path() const { return archive_->path; }

const std::vector<ZipFile::Entry>& ZipFile::entries() const { return archive_->entries; }

size_t ZipFile::index_of(const std::string& name) const {
  const auto found = archive_->indices.find(name);
  require(found != archive_->indices.end(), "{} has no {}", path(), name);
  return found->second;
}

std::vector<std::byte> ZipFile::read_to_parse(const std::string& name) const {
  const Entry& entry = archive_->entries[index_of(name)];
  require(entry.bytes <= most_parsed(entry.compressed),
          "{}: {} has {} bytes, decompressed from {}, expected at most {}: it may be made to exhaust memory", path(),
          name, entry.bytes, entry.compressed, most_parsed(entry.compressed));
  return read(name);
}

std::vector<std::byte> ZipFile::read(const std::string& name, uint64_t most) const {
  const size_t index = index_of(name);
  const std::lock_guard lock(archive_->mutex);
  unzFile zip = archive_->zip;
  unz64_file_pos position = archive_->positions[index];
  require(unzGoToFilePos64(zip, &position) == UNZ_OK && unzOpenCurrentFile(zip) == UNZ_OK, "{}: {} cannot be read",
          path(), name);
  std::vector<std::byte> bytes(std::min(archive_->entries[index].bytes, most));
  size_t done = 0;
  while (done < bytes.size()) {
    constexpr size_t block = 1 << 24;
    const int more = unzReadCurrentFile(zip, bytes.data() + done, unsigned(std::min(block, bytes.size() - done)));
    if (more <= 0) break;
    done += size_t(more);
  }
  const bool whole = unzCloseCurrentFile(zip) == UNZ_OK;  // verifies the checksum if everything was read
  require(done == bytes.size() && whole, "{}: {} is damaged: {} of {} bytes can be read", path(), name, done,
          bytes.size());
  return bytes;
}

// Reading a part of an entry through minizip would read all of it up to there.
std::span<const std::byte> ZipFile::stored(const std::string& name) const {
  const size_t index = index_of(name);
  const Entry& entry = archive_->entries[index];
  const std::lock_guard lock(archive_->mutex);
  if (const auto known = archive_->stored.find(index); known != archive_->stored.end()) return known->second;
  unz64_file_pos position = archive_->positions[index];
  unz_file_info64 status;
  require(unzGoToFilePos64(archive_->zip, &position) == UNZ_OK &&
              unzGetCurrentFileInfo64(archive_->zip, &status, nullptr, 0, nullptr, 0, nullptr, 0) == UNZ_OK,
          "{}: {} cannot be read", path(), name);
  if (status.compression_method != 0)
    throw Error(fmt::format("{}: {} is compressed, expected it as torch.save writes it", path(), name),
                "pack the archive anew without compression (zip -0)");
  require(unzOpenCurrentFile(archive_->zip) == UNZ_OK, "{}: {} cannot be read", path(), name);
  const uint64_t begin = unzGetCurrentFileZStreamPos64(archive_->zip), most = archive_->file.size();
  unzCloseCurrentFile(archive_->zip);
  require(entry.bytes == entry.compressed && begin <= most && entry.bytes <= most - begin, "{}: {} is damaged", path(),
          name);
  const std::span<const std::byte> bytes = archive_->file.bytes().subspan(begin, entry.bytes);
  require(crc32_of(bytes) == status.crc, "{}: {} is damaged: its checksum is wrong", path(), name);
  return archive_->stored[index] = bytes;
}

}  // namespace dragoman
