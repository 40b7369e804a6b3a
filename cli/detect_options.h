#pragma once
#include <string>
#include <utility>
#include <vector>

namespace dragoman {

struct DetectOptions {
  std::string model;                // profiles of languages, to detect with
  std::vector<std::string> learn;   // LANGUAGE=FILE
  std::vector<std::string> inputs;  // stdin when empty
  std::string output = "-";
  bool all = false;
};

/// The language and the file of each --learn. Error for a word without "=", a language or a file.
std::vector<std::pair<std::string, std::string>> texts_to_learn(const DetectOptions& options);

}  // namespace dragoman
