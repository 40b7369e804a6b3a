#include "io/parameter_counts.h"

#include <algorithm>

#include "io/int8_weights.h"

namespace dragoman {
namespace {

constexpr size_t most_groups = 16;

// "encoder.3.feed_forward.up.weight" counts as encoder, "source_embedding.weight" as embeddings. ParameterGroups beyond
// most_groups are merged into "others": a file could have one for each of 100,000 tensors.
ParameterGroup& group_of(ParameterCounts& counts, const std::string& tensor) {
  const std::string first = tensor.substr(0, tensor.find('.'));
  const std::string name = first.ends_with("embedding") ? "embeddings" : first;
  const auto found = std::ranges::find(counts.groups, name, &ParameterGroup::name);
  if (found != counts.groups.end()) return *found;
  const bool full = counts.groups.size() == most_groups;
  return full ? counts.groups.back()
              : counts.groups.emplace_back(counts.groups.size() == most_groups - 1 ? ParameterGroup{"others"}
                                                                                   : ParameterGroup{name});
}

// Running statistics of batch norms are not learned, so they are not parameters.
bool holds_parameters(const std::string& tensor) {
  return !tensor.starts_with("vocabulary.") && !tensor.ends_with(scale_name("weight")) &&
         tensor.find(".running_") == std::string::npos;
}

}  // namespace

ParameterCounts count_parameters(const SafetensorsFile& file) {
  ParameterCounts counts;
  for (const TensorEntry& t : file.tensors()) {
    if (!holds_parameters(t.name)) continue;
    const int64_t elements = int64_t(t.bytes.size()) / size_of(t.dtype);
    ParameterGroup& group = group_of(counts, t.name);
    ++group.tensors, ++counts.tensors;
    group.parameters += elements, counts.parameters += elements;
    counts.types.emplace(name_of(t.dtype));
  }
  std::erase_if(counts.groups, [](const ParameterGroup& group) { return group.tensors == 0; });
  return counts;
}

}  // namespace dragoman
