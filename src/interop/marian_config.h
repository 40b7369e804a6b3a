#pragma once
#include <string>

#include "model/config.h"

namespace dragoman {

/// The configuration of a model of Marian, from the YAML text in its file (special:model.yml). The sizes of the
/// vocabularies and the ids of special pieces are left to the vocabularies. Error, naming the file, the option and its
/// value, for a model that dragoman does not support.
ModelConfig marian_config(const std::string& yaml, const std::string& path);

}  // namespace dragoman
