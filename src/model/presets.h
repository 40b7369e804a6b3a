#pragma once
#include <functional>
#include <string_view>

#include "model/config.h"

namespace dragoman {

/// Sets of sizes, by Marian's names (`--task`).
enum class Task { none, base, big, base_prenorm, big_prenorm, base_marian, tiny, tiny11 };

inline std::span<const EnumName<Task>> enum_names(Task) {
  static constexpr EnumName<Task> names[] = {{Task::none, "none"},
                                             {Task::base, "transformer-base"},
                                             {Task::big, "transformer-big"},
                                             {Task::base_prenorm, "transformer-base-prenorm"},
                                             {Task::big_prenorm, "transformer-big-prenorm"},
                                             {Task::base_marian, "transformer-base-marian"},
                                             {Task::tiny, "transformer-tiny"},
                                             {Task::tiny11, "transformer-tiny11"},
                                             {Task::base, "transformer"}};  // Marian's first name for it
  return names;
}

/// Sets the sizes of `task` in `config`. base and big: Vaswani et al. 2017, Table 3.
void apply_task(ModelConfig& config, Task task);

/// The defaults of models with the type of `config` and, if recurrent, its kinds of attention and encoder. As in the
/// papers, recurrent models have one layer, one head and attention without projections.
ModelConfig defaults_of(const ModelConfig& config);

/// Sets the fields that were not given, and those that such a model lacks, to the defaults of its type where these
/// differ from a Transformer's.
void complete(ModelConfig& config, const std::function<bool(std::string_view option)>& given);

}  // namespace dragoman
