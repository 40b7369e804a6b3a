#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace dragoman {

/// A folder of its own for each test, removed after it.
class InFolder : public testing::Test {
 protected:
  InFolder() {
    auto name = (std::filesystem::temp_directory_path() / "dragoman-io-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    folder_ = name;
  }
  ~InFolder() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ / name; }

  std::string file_of(const std::string& content) const {
    std::ofstream(at("file"), std::ios::binary) << content;
    return at("file");
  }

 private:
  std::filesystem::path folder_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace dragoman
