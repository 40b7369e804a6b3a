#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dragoman {

/// Whether arrays and objects are nested deeper than in any file of ours. Copying or printing such a text would exhaust
/// the stack.
bool nests_too_deep(std::string_view json);

/// Parses the JSON of a file; is_discarded() if it is invalid or nested too deep.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  return nests_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

/// The text of a value, on one line unless `indent` is at least 0. Bytes that are not UTF-8, as in names of files, are
/// replaced.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dragoman
