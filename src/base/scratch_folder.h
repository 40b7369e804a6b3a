#pragma once
#include <string>

namespace dragoman {

/// A folder of its own among the temporary files (TMPDIR), removed with all it holds at the end. Error when none can be
/// made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace dragoman
