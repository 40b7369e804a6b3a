#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "io/safetensors.h"

namespace dragoman {

/// Parameters with a common beginning of their names.
struct ParameterGroup {
  std::string name;
  int64_t tensors = 0, parameters = 0;
};

struct ParameterCounts {
  std::vector<ParameterGroup> groups = {{"embeddings"}, {"encoder"}, {"decoder"}, {"output"}};  // without empty ones
  int64_t tensors = 0, parameters = 0;
  std::set<std::string> types;
};

/// The parameters of a model file or of a training state: neither vocabularies nor running statistics.
ParameterCounts count_parameters(const SafetensorsFile& file);

}  // namespace dragoman
