#pragma once
#include <string>

namespace dragoman {

/// A new temporary folder (in TMPDIR), removed with its content on destruction. Throws Error if it cannot be created.
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
