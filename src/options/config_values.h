#pragma once
#include "model/config_fields.h"
#include "options/values.h"

namespace dragoman {

/// Reads and shows a field of a model's configuration, as options/values.h does for other options.
void read_words(const ConfigMember& member, const Strings& words, Bounds bounds);
Strings show_words(const ConfigField& field, ModelConfig config);
std::string choices_of(const ConfigField& field);
bool is_boolean(const ConfigField& field);
bool is_list(const ConfigField& field);

}  // namespace dragoman
