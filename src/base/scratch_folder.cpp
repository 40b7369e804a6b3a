#include "base/scratch_folder.h"

#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace dragoman {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() : path_((fs::temp_directory_path() / "dragoman-XXXXXX").string()) {
  require(mkdtemp(path_.data()) != nullptr, "{}: no temporary folder can be made there", path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace dragoman
