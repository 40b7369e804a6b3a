#include "interop/zip.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"

namespace dragoman {
namespace {

// Deflate makes at most 1,032 bytes of one: a larger size is a lie, or a bomb.
constexpr uint64_t most_expansion = 1100;

struct Closer {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

struct ZipFile::Archive {
  std::string path;
  zip_t* zip = nullptr;
  std::vector<Entry> entries;
  std::mutex mutex;

  ~Archive() { zip_discard(zip); }
};

ZipFile::ZipFile(const std::string& path) : archive_(std::make_shared<Archive>()) {
  archive_->path = path;
  int code = 0;
  archive_->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (!archive_->zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail("{}: is no readable zip archive: {}", path, why);
  }
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    const bool known = zip_stat_index(archive_->zip, zip_uint64_t(i), 0, &status) == 0 &&
                       (status.valid & ZIP_STAT_NAME) && (status.valid & ZIP_STAT_SIZE) &&
                       (status.valid & ZIP_STAT_COMP_SIZE);
    require(known, "{}: entry {} of the archive is damaged", path, i);
    require(status.size <= status.comp_size * most_expansion + most_expansion,
            "{}: {} says that it has {} bytes, made of {}", path, status.name, status.size, status.comp_size);
    archive_->entries.push_back({status.name, status.size});
  }
}

const std::string& ZipFile::path() const { return archive_->path; }

const std::vector<ZipFile::Entry>& ZipFile::entries() const { return archive_->entries; }

bool ZipFile::has(const std::string& name) const {
  return std::ranges::find(archive_->entries, name, &Entry::name) != archive_->entries.end();
}

std::vector<std::byte> ZipFile::read(const std::string& name, uint64_t most) const {
  const auto entry = std::ranges::find(archive_->entries, name, &Entry::name);
  require(entry != archive_->entries.end(), "{}: has no {}", path(), name);
  const std::lock_guard lock(archive_->mutex);
  const std::unique_ptr<zip_file_t, Closer> file(zip_fopen(archive_->zip, name.c_str(), 0));
  require(file != nullptr, "{}: {} cannot be read: {}", path(), name, zip_strerror(archive_->zip));
  std::vector<std::byte> bytes(std::min(entry->bytes, most));
  size_t done = 0;
  while (done < bytes.size()) {
    const zip_int64_t more = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
    require(more > 0, "{}: {} is damaged: {} of {} bytes can be read", path(), name, done, bytes.size());
    done += size_t(more);
  }
  // The checksum is known to be right when the end was read.
  if (bytes.size() == entry->bytes) {
    std::byte beyond;
    require(zip_fread(file.get(), &beyond, 1) == 0, "{}: {} is damaged: {}", path(), name,
            zip_file_strerror(file.get()));
  }
  return bytes;
}

}  // namespace dragoman
