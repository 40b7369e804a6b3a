#include "interop/file_set.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace dragoman {

namespace fs = std::filesystem;

FileSet FileSet::of_folder(const std::string& path) { return {path, std::nullopt, ""}; }

FileSet FileSet::of_archive(const ZipFile& archive, const std::string& prefix) {
  return {archive.path() + (prefix.empty() ? "" : "/" + prefix), archive, prefix};
}

std::string FileSet::path_of(const std::string& name) const { return path_ + (path_.ends_with('/') ? "" : "/") + name; }

bool FileSet::has(const std::string& name) const {
  if (!archive_) {
    const fs::path path = fs::path(path_) / name;
    return fs::is_regular_file(path) || (fs::is_symlink(path) && !fs::exists(path));
  }
  return std::ranges::find(archive_->entries(), prefix_ + name, &ZipFile::Entry::name) != archive_->entries().end();
}

FileBytes FileSet::bytes(const std::string& name) const {
  if (!archive_) {
    const auto file = std::make_shared<const MappedFile>(fs::path(path_) / name);
    return {file, file->bytes()};
  }
  const auto content = std::make_shared<const std::vector<std::byte>>(archive_->read(prefix_ + name));
  return {content, *content};
}

std::string FileSet::text(const std::string& name) const {
  if (!archive_) return read_regular_file(fs::path(path_) / name);
  const std::vector<std::byte> content = archive_->read_to_parse(prefix_ + name);
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

std::optional<std::string> FileSet::first_of(std::initializer_list<const char*> names) const {
  for (const char* name : names)
    if (has(name)) return name;
  return std::nullopt;
}

FileSet FileSet::inside(const std::string& name) const {
  return {path_of(name), archive_, archive_ ? prefix_ + name + "/" : ""};
}

}  // namespace dragoman
