#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

/// The value as a whole number; 8.0 is one too. Error, beginning with `where`, for other values and beyond the range of
/// int.
int int_of(const nlohmann::json& value, const std::string& where);

/// A JSON object in another program's file, such as config.json.
class JsonObject {
 public:
  /// An empty object if there is no such file. Error if the file is not a JSON object.
  explicit JsonObject(const std::filesystem::path& path);
  static JsonObject of_text(const std::string& text, const std::string& path);

  const std::string& path() const { return path_; }
  const nlohmann::json& root() const { return root_; }
  bool has(const char* key) const { return root_.contains(key) && !root_[key].is_null(); }

  /// Error, naming file and key, for a value of another kind.
  template <class T>
  T get(const char* key, T otherwise) const {
    if (!has(key)) return otherwise;
    if constexpr (std::is_same_v<T, int>) return int_of(root_[key], fmt::format("{}: {}", path_, key));
    try {
      return root_[key].get<T>();
    } catch (const nlohmann::json::exception&) {
      fail("{}: {} is {}, expected a value of another type", path_, key, beginning_of(root_[key].dump()));
    }
  }
  int number(const char* key) const;

 private:
  JsonObject(std::string path, nlohmann::json root);

  std::string path_;
  nlohmann::json root_;
};

}  // namespace dragoman
