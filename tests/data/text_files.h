#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dragoman {

/// A folder for the files of one test, removed at its end.
class TextFiles {
 public:
  TextFiles() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "dragoman_data_" + test->test_suite_name() + "_" + test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TextFiles() { std::filesystem::remove_all(folder_); }
  TextFiles(const TextFiles&) = delete;
  TextFiles& operator=(const TextFiles&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// Writes a file and gives its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::string folder_;
};

}  // namespace dragoman
