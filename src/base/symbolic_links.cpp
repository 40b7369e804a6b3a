#include "base/symbolic_links.h"

namespace dragoman {

namespace fs = std::filesystem;

namespace {

constexpr int most_links = 40;

fs::path target_of(const fs::path& link) {
  std::error_code failed;
  return link.parent_path() / fs::read_symlink(link, failed);  // an absolute target replaces the path
}

fs::path real_folder_of(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path real = fs::weakly_canonical(folder, failed);
  return failed ? folder : real;
}

}  // namespace

fs::path without_links(fs::path path) {
  std::error_code failed;
  for (int links = 0; links < most_links && fs::is_symlink(path, failed); ++links) path = target_of(path);
  return real_folder_of(path) / path.filename();
}

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(fs::symlink_status(path, unknown));
}

bool leads_into_proc(fs::path path) {
  std::error_code failed;
  for (int links = 0; links < most_links; ++links, path = target_of(path)) {
    if (real_folder_of(path).native().starts_with("/proc/")) return true;
    if (!fs::is_symlink(path, failed)) return false;
  }
  return false;
}

bool leads_to_stdin(fs::path path) {
  std::error_code failed;
  const std::string own = fs::weakly_canonical("/proc/self", failed).native() + "/";
  for (int links = 0; links < most_links; ++links, path = target_of(path)) {
    const fs::path folder = real_folder_of(path);  // of a thread too: /proc/7/task/8/fd
    if (folder.native().starts_with(own) && folder.filename() == "fd" && path.filename() == "0") return true;
    if (!fs::is_symlink(path, failed)) return false;
  }
  return false;
}

std::string behind_link(const std::string& path) {
  std::error_code failed;
  return fs::is_symlink(path, failed) ? without_links(path).string() : path;
}

}  // namespace dragoman
