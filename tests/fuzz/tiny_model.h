#pragma once
#include "tests/toy_model.h"

namespace dragoman {

/// The smallest model that has everything, so that most changes of its file hit what describes it.
inline ModelConfig tiny_config() {
  ModelConfig config = toy_config();
  config.dim = 2, config.heads = 1, config.feed_forward = 2;
  return config;
}

/// The content of a file without its checksum, which would turn away all that was changed: it gets another name.
inline std::string without_checksum(std::string content) {
  const size_t at = content.find("\"checksum\"");
  require(at != content.npos, "the file has a checksum");
  return content.replace(at, 10, "\"checksun\"");
}

}  // namespace dragoman
