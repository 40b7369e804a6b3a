#pragma once
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace dragoman {

/// A folder of its own for each test, removed after it.
class InFolder : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }
  std::string file_of(const std::string& content) const { return folder_.make("file", content); }

 private:
  const TemporaryFolder folder_;
};

}  // namespace dragoman
