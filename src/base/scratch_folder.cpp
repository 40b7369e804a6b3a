#include "base/scratch_folder.h"

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/temporary_file.h"

namespace dragoman {

ScratchFolder::ScratchFolder() : path_(temporary_folder() + "/dragoman-XXXXXX") {
  require(mkdtemp(path_.data()) != nullptr, "{}: cannot create a temporary folder there", path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace dragoman
