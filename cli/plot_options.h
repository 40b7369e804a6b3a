#pragma once
#include <string>
#include <vector>

namespace dragoman {

struct PlotOptions {
  std::vector<std::string> logs;  // of train --log-json
  std::string output = "-";
};

}  // namespace dragoman
