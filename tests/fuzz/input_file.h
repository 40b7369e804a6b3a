#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {

/// Bytes as a file that readers can open by name: in memory, so that a million of them take no disk. The name ends as
/// asked (".gz"), which is how readers tell compressed text.
class InputFile {
 public:
  explicit InputFile(std::string_view bytes, const std::string& ending = "")
      : number_(memfd_create("input", MFD_CLOEXEC)) {
    require(number_ >= 0 && ::write(number_, bytes.data(), bytes.size()) == ssize_t(bytes.size()), "no input file");
    link_ = folder() / ("input" + ending);
    unlink(link_.c_str());
    require(symlink(fmt::format("/proc/self/fd/{}", number_).c_str(), link_.c_str()) == 0, "no link {}", link_);
  }
  InputFile(const InputFile&) = delete;
  ~InputFile() { ::close(number_); }

  const std::string& path() const { return link_; }

 private:
  static const TemporaryFolder& folder() {
    static const TemporaryFolder folder;
    return folder;
  }

  int number_;
  std::string link_;
};

}  // namespace dragoman
