#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bounds.h"
#include "model/config.h"

namespace dragoman {

/// A member of a configuration that is some enum.
struct EnumMember {
  void* value;
  std::string_view (*name)(const void* value);
  bool (*set)(void* value, std::string_view name);  // false: there is no such name
  std::string (*names)();                           // "relu, gelu, swish"
};

/// A field of a configuration, by its type.
using ConfigMember = std::variant<bool*, int*, double*, std::vector<int>*, EnumMember>;

/// The value as options and messages write it: "true", "0.1", "scaled-dot".
std::string to_text(const ConfigMember& member);

/// Copies the value of the same field of another configuration.
void assign(const ConfigMember& to, const ConfigMember& from);

/// Model types, as a set.
namespace types {
constexpr unsigned transformer = 1, decoder_only = 2, s2s = 4;
constexpr unsigned with_encoder = transformer | s2s, all = transformer | decoder_only | s2s;
constexpr unsigned transformers = transformer | decoder_only;
}  // namespace types

/// The set of one type, and the first type of a set.
unsigned set_of(ModelType type);
ModelType first_of(unsigned types);

/// A value that another field must have (or must not have, with `but`); an empty value: any value but 0.
struct Requirement {
  std::string_view option, value;
  bool but = false;
};

/// Describes one field of ModelConfig. The JSON of a model file, validate(), the options of `train`, YAML, `inspect
/// --options` and docs/options.md are generated from it; the default is the member's own.
struct ConfigField {
  std::string_view key;                  // in the model file
  ConfigMember (*member)(ModelConfig&);  // valid as long as the configuration
  std::string_view option = "";          // on the command line, in YAML and in messages; "": it has none
  std::string_view value = "";           // what --help calls the value: "N", "NAME"
  std::string_view group = "";           // the heading in --help
  std::string_view help = "";
  Bounds bounds = {};
  unsigned models = types::all;  // models that have it
  bool of_attention = false;     // models without attention lack it
  Requirement needs = {};        // it exists only in models that meet this
  bool training_only = false;    // affects training or alignments alone: a fine-tuned model may differ in it
  bool since_first = true;       // false: added later, and left out of files at its default
};

/// All fields, in the order of the model file's JSON. To add one: a member of ModelConfig, a row here with
/// `.since_first = false`, the code that uses it, a test.
std::span<const ConfigField> model_config_fields();

/// The field of this option. It must exist.
const ConfigField& field_of_option(std::string_view option);

/// Whether models of this configuration have attention.
bool attends(const ModelConfig& config);

/// Whether a model of this configuration has the field.
bool has_field(const ModelConfig& config, const ConfigField& field);

}  // namespace dragoman
