#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace dragoman {

/// While it lives, root has no more rights than anybody else, so that a test of files that may not be read is one for
/// root too. `folder` may be searched by all: without that, no file in it could be opened, whatever its own rights.
class WithoutRights {
 public:
  explicit WithoutRights(const std::string& folder) {
    using std::filesystem::perms;
    std::filesystem::permissions(folder, perms::owner_all | perms::group_exec | perms::others_exec);
    constexpr uid_t nobody = 65534;
    EXPECT_EQ(root_ ? seteuid(nobody) : 0, 0);
  }
  WithoutRights(const WithoutRights&) = delete;
  ~WithoutRights() { EXPECT_EQ(root_ ? seteuid(0) : 0, 0); }

 private:
  const bool root_ = geteuid() == 0;
};

}  // namespace dragoman
