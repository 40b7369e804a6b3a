#include "interop/yaml_fields.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

YamlFields YamlFields::of_text(const std::string& text, const std::string& path) {
  try {
    return {YAML::Load(text), path};
  } catch (const YAML::Exception& e) {
    fail("{}, line {}: not YAML: {}", path, e.mark.line + 1, e.msg);
  }
}

YamlFields::YamlFields(const YAML::Node& node, std::string where)
    : node_(std::make_shared<const YAML::Node>(node)), where_(std::move(where)) {
  require(node.IsMap(), "{} is not a list of names and values", where_);
}

YAML::Node YamlFields::find(const std::string& name) const { return (*node_)[name]; }

std::string YamlFields::full(const std::string& name) const { return where_ + (root_ ? ": " : ".") + name; }

bool YamlFields::has(const std::string& name) const {
  const YAML::Node found = find(name);
  return found && !found.IsNull();
}

template <class T>
T YamlFields::value(const std::string& name, const std::optional<T>& otherwise, const char* expected) const {
  require(has(name) || otherwise, "{} has no {}", where_, name);
  if (!has(name)) return *otherwise;
  const YAML::Node found = find(name);
  try {
    return found.as<T>();
  } catch (const YAML::Exception&) {
    fail("{} is {}, expected {}", full(name), beginning_of(YAML::Dump(found)), expected);
  }
}

int YamlFields::number(const std::string& name, std::optional<int> otherwise) const {
  return value<int>(name, otherwise, "an integer");
}
double YamlFields::real(const std::string& name, double otherwise) const {
  return value<double>(name, otherwise, "a number");
}
bool YamlFields::flag(const std::string& name, bool otherwise) const {
  return value<bool>(name, otherwise, "True or False");
}
std::string YamlFields::text(const std::string& name, const std::string& otherwise) const {
  return value<std::string>(name, otherwise, "a plain value");
}
std::vector<std::string> YamlFields::texts(const std::string& name) const {
  return value<std::vector<std::string>>(name, std::vector<std::string>(), "a list of plain values");
}

std::optional<YamlFields> YamlFields::inside(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  YamlFields section(find(name), full(name));
  section.root_ = false;
  return section;
}

YamlFields YamlFields::section(const std::string& name) const {
  auto found = inside(name);
  require(found.has_value(), "{} has no {}", where_, name);
  return *std::move(found);
}

}  // namespace dragoman
