#include "base/writable.h"

#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/symbolic_links.h"

namespace dragoman {

namespace fs = std::filesystem;

std::string folder_of_written(const std::string& file) {
  const std::string parent = fs::path(behind_link(file)).parent_path().string();
  return parent.empty() ? "." : parent;
}

void require_writable(std::string_view option, const std::string& file) {
  const std::string folder = folder_of_written(file);
  if (!fs::is_directory(folder))
    throw Error(fmt::format("--{} {}: there is no folder {}", option, file, folder),
                fmt::format("mkdir -p {}", folder));
  require(!fs::is_directory(file), "--{} {} is a folder, expected the name of a file", option, file);
  require(access(folder.c_str(), W_OK) == 0, "--{} {}: the folder {} cannot be written to", option, file, folder);
}

bool is_replaceable(const std::string& file) {
  std::error_code ignored;  // what cannot be looked at fails when it is written
  return !fs::exists(file, ignored) || fs::is_regular_file(file, ignored);
}

void require_replaceable(std::string_view option, const std::string& file) {
  require_writable(option, file);
  require(is_replaceable(file), "--{} {} exists and is not a regular file, so it is not replaced", option, file);
}

}  // namespace dragoman
