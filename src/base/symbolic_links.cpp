#include "base/symbolic_links.h"

namespace dragoman {

namespace fs = std::filesystem;

fs::path without_links(fs::path path) {
  std::error_code failed;
  for (int links = 0; links < 40 && fs::is_symlink(path, failed); ++links)
    path = path.parent_path() / fs::read_symlink(path, failed);  // an absolute target replaces the path
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path real = fs::weakly_canonical(folder, failed);
  return (failed ? folder : real) / path.filename();
}

std::string behind_link(const std::string& path) {
  std::error_code failed;
  return fs::is_symlink(path, failed) ? without_links(path).string() : path;
}

}  // namespace dragoman
