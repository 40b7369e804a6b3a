#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dragoman {

/// A folder for the files of a test, removed at its end. Tests that run at the same time do not meet there.
class TextFiles {
 public:
  TextFiles() {
    static int made = 0;
    folder_ = testing::TempDir() + "dragoman_" + std::to_string(getpid()) + "_" + std::to_string(made++);
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
