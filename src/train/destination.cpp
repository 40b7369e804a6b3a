#include "train/destination.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& file) {
  const std::string parent = fs::path(file).parent_path().string();
  return parent.empty() ? "." : parent;
}

int64_t mebibytes(int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

}  // namespace

void require_writable(std::string_view option, const std::string& file) {
  const std::string folder = folder_of(file);
  if (!fs::is_directory(folder))
    throw Error(fmt::format("--{} {}: there is no folder {}", option, file, folder),
                fmt::format("mkdir -p {}", folder));
  require(!fs::is_directory(file), "--{} {} is a folder, expected the name of a file", option, file);
  require(access(folder.c_str(), W_OK) == 0, "--{} {}: the folder {} cannot be written to", option, file, folder);
}

void require_space(const std::string& model, CheckpointSize size, int64_t available) {
  const bool replaced = fs::exists(model) && fs::exists(state_path(model));
  const int64_t needed = replaced ? std::max(size.model, size.state) : size.model + size.state;
  if (needed <= available) return;
  throw Error(fmt::format("--model {}: a checkpoint needs {} MiB more on the disk of {}, which has {} MiB free", model,
                          mebibytes(needed), folder_of(model), available >> 20),
              "free some space (df -h), or give --model on another disk");
}

int64_t free_space(const std::string& file) {
  std::error_code unknown;
  const auto space = fs::space(folder_of(file), unknown);
  return unknown ? std::numeric_limits<int64_t>::max() : int64_t(space.available);
}

}  // namespace dragoman
