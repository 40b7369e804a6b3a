#pragma once
#include <string>
#include <vector>

#include "base/line_reader.h"

namespace dragoman {

/// All lines of a file.
inline std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

}  // namespace dragoman
