#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interop/zip.h"

namespace dragoman {

/// Bytes of a file, mapped or in memory, valid as long as `owner` lives.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// A folder of files, on disk or inside a zip archive.
class FileSet {
 public:
  static FileSet of_folder(const std::string& path);
  /// `prefix` is the folder in the archive, with a trailing "/", or empty.
  static FileSet of_archive(const ZipFile& archive, const std::string& prefix);

  const std::string& path() const { return path_; }
  /// For messages.
  std::string path_of(const std::string& name) const;
  bool has(const std::string& name) const;
  /// Error if there is no such file.
  FileBytes bytes(const std::string& name) const;
  /// For parsing; see ZipFile::read_to_parse.
  std::string text(const std::string& name) const;
  /// The first of these names that exists.
  std::optional<std::string> first_of(std::initializer_list<const char*> names) const;
  /// A subfolder.
  FileSet inside(const std::string& name) const;

 private:
  FileSet(std::string path, std::optional<ZipFile> archive, std::string prefix)
      : path_(std::move(path)), archive_(std::move(archive)), prefix_(std::move(prefix)) {}

  std::string path_;
  std::optional<ZipFile> archive_;
  std::string prefix_;  // in the archive
};

}  // namespace dragoman
