#include "interop/json_object.h"

#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/json_text.h"
#include "base/symbolic_links.h"

namespace dragoman {

namespace fs = std::filesystem;

int int_of(const nlohmann::json& value, const std::string& where) {
  using Limits = std::numeric_limits<int>;
  const double number = value.is_number() ? value.get<double>() : NAN;
  require(number >= Limits::min() && number <= Limits::max() && number == std::trunc(number),
          "{} is {}, expected a whole number of at most {}", where, beginning_of(value.dump()), Limits::max());
  return int(number);
}

JsonObject::JsonObject(std::string path, nlohmann::json root) : path_(std::move(path)), root_(std::move(root)) {
  require(root_.is_object(), "{} is not a JSON object", path_);
}

JsonObject::JsonObject(const fs::path& path)
    : JsonObject(path, is_there(path) ? parse_json(read_regular_file(path)) : nlohmann::json::object()) {}

JsonObject JsonObject::of_text(const std::string& text, const std::string& path) { return {path, parse_json(text)}; }

int JsonObject::number(const char* key) const {
  require(has(key), "{} has no {}", path_, key);
  return get(key, 0);
}

}  // namespace dragoman
