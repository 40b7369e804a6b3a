#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace dragoman {

/// Options by name in a mapping of another program's YAML file. Tags such as Python's are ignored.
class YamlFields {
 public:
  /// Error, naming the file, if the text is not YAML or not a mapping.
  static YamlFields of_text(const std::string& text, const std::string& path);

  /// Names the file and the mapping in messages: "config.yaml: model.encoder".
  const std::string& where() const { return where_; }
  /// False for an option that is absent or null.
  bool has(const std::string& name) const;
  /// Error, naming the option, for a value of another kind.
  int number(const std::string& name, std::optional<int> otherwise = {}) const;
  double real(const std::string& name, double otherwise) const;
  bool flag(const std::string& name, bool otherwise = false) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  /// A list of plain values; empty if it is absent.
  std::vector<std::string> texts(const std::string& name) const;
  /// A mapping inside this one; nullopt if it is absent.
  std::optional<YamlFields> inside(const std::string& name) const;
  /// The same. Error if it is absent.
  YamlFields section(const std::string& name) const;

 private:
  YamlFields(const YAML::Node& node, std::string where);
  YAML::Node find(const std::string& name) const;
  std::string full(const std::string& name) const;
  template <class T>
  T value(const std::string& name, const std::optional<T>& otherwise, const char* expected) const;

  std::shared_ptr<const YAML::Node> node_;
  std::string where_;
  bool root_ = true;
};

}  // namespace dragoman
