#include "model/config_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "model/field_tables.h"

namespace dragoman {
namespace {

// Reads the value of a field.
std::string text_of(const ModelConfig& config, const ConfigField& field) {
  return to_text(field.member(const_cast<ModelConfig&>(config)));  // NOLINT: nothing is written
}

}  // namespace

std::string to_text(const ConfigMember& member) {
  struct Visitor {
    std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
    std::string operator()(const int* v) const { return fmt::to_string(*v); }
    std::string operator()(const double* v) const { return fmt::format("{}", *v); }
    std::string operator()(const std::vector<int>* v) const { return fmt::format("{}", fmt::join(*v, ", ")); }
    std::string operator()(const EnumMember& v) const { return std::string(v.name(v.value)); }
  };
  return std::visit(Visitor{}, member);
}

void assign(const ConfigMember& to, const ConfigMember& from) {
  invariant(to.index() == from.index(), "values of one field");
  const auto copy = [&]<class T>(T* value) { *value = *std::get<T*>(from); };
  const auto copy_enum = [&](const EnumMember& e) { e.set(e.value, to_text(from)); };
  std::visit(
      [&]<class T>(const T& member) {
        if constexpr (std::is_same_v<T, EnumMember>)
          copy_enum(member);
        else
          copy(member);
      },
      to);
}

unsigned set_of(ModelType type) {
  switch (type) {
    case ModelType::transformer:
      return types::transformer;
    case ModelType::decoder_only:
      return types::decoder_only;
    case ModelType::s2s:
      return types::s2s;
  }
  return 0;
}

ModelType first_of(unsigned models) {
  for (const ModelType type : {ModelType::transformer, ModelType::decoder_only, ModelType::s2s})
    if (models & set_of(type)) return type;
  return ModelType::transformer;
}

std::span<const ConfigField> model_config_fields() {
  // Not destroyed at the end of the process, until which threads of a program may go on computing.
  static const auto& all = *new auto([] {
    std::vector<ConfigField> fields;
    for (const auto& table :
         {shape_fields(), attention_fields(), recurrent_fields(), training_fields(), generation_fields()})
      fields.insert(fields.end(), table.begin(), table.end());
    return fields;
  }());
  return all;
}

const ConfigField& field_of_option(std::string_view option) {
  const auto fields = model_config_fields();
  const auto found = std::ranges::find(fields, option, &ConfigField::option);
  invariant(found != fields.end(), "an option of no field");
  return *found;
}

bool attends(const ModelConfig& config) {
  return config.type != ModelType::s2s || config.rnn.decoder.attention != RnnAttention::none;
}

bool has_field(const ModelConfig& config, const ConfigField& field) {
  if ((field.models & set_of(config.type)) == 0 || (field.of_attention && !attends(config))) return false;
  if (field.needs.option.empty()) return true;
  const std::string found = text_of(config, field_of_option(field.needs.option));
  if (field.needs.value.empty()) return found != "0";
  return (found == field.needs.value) != field.needs.but;
}

}  // namespace dragoman
