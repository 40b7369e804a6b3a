#include "io/config_json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "model/config_fields.h"
#include "model/validate.h"

namespace dragoman {
namespace {

using nlohmann::json;

nlohmann::ordered_json json_of(const ConfigMember& member) {
  return std::visit(
      []<class T>(const T& value) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<T, EnumMember>)
          return value.name(value.value);
        else
          return *value;
      },
      member);
}

/// Reads the entry `key` of the configuration in the file `where`.
struct Reader {
  const json& value;
  const std::string &key, &where;

  [[noreturn]] void complain(const std::string& expected) const {
    fail("{}: '{}' is {} in the model's configuration, expected {}", where, key, value.dump(), expected);
  }
  void operator()(bool* member) const {
    if (!value.is_boolean()) complain("true or false");
    *member = value.get<bool>();
  }
  void operator()(int* member) const {
    if (!value.is_number_integer() || value < -1 || value > 1'000'000'000) complain("a whole number");
    *member = value.get<int>();
  }
  void operator()(double* member) const {
    if (!value.is_number()) complain("a number");
    *member = value.get<double>();
  }
  void operator()(std::vector<int>* member) const {
    if (!value.is_array()) complain("a list of whole numbers");
    for (const json& element : value) Reader{element, key, where}(&member->emplace_back());
  }
  void operator()(const EnumMember& member) const {
    if (!value.is_string() || !member.set(member.value, value.get<std::string>())) complain(member.names());
  }
};

}  // namespace

std::string to_json(const ModelConfig& config) {
  ModelConfig written = config, standard;
  nlohmann::ordered_json out;
  for (const ConfigField& field : model_config_fields()) {
    const auto value = json_of(field.member(written));
    if (field.since_first || value != json_of(field.member(standard))) out[std::string(field.key)] = value;
  }
  return out.dump();
}

ModelConfig config_from_json(const std::string& text, const std::string& where) {
  const json in = parse_json(text);
  require(in.is_object(), "{}: the model's configuration is not a JSON object", where);
  ModelConfig config;
  std::set<std::string> known;
  for (const ConfigField& field : model_config_fields()) {
    const std::string key(field.key);
    known.insert(key);
    if (in.contains(key)) std::visit(Reader{in[key], key, where}, field.member(config));
  }
  if (auto& tied = config.tied_decoder_layers; !tied.empty() && tied[0] == 0)
    for (int& layer : tied) ++layer;  // earlier versions counted from 0
  for (const auto& [key, value] : in.items())
    if (!known.contains(key))
      throw Error(fmt::format("{}: unknown entry '{}' in the model's configuration", where, key),
                  "the file may come from a newer dragoman; dragoman --version prints the version of this one");
  validate(config, where);
  return config;
}

std::vector<ConfigDifference> differences(const ModelConfig& first, const ModelConfig& second) {
  ModelConfig ours = first, theirs = second;
  std::vector<ConfigDifference> found;
  for (const ConfigField& field : model_config_fields()) {
    const auto a = json_of(field.member(ours)), b = json_of(field.member(theirs));
    const std::string key(field.key), option(field.option);
    if (a != b) found.push_back({key, option.empty() ? key : "--" + option, a.dump(), b.dump()});
  }
  return found;
}

}  // namespace dragoman
