#pragma once
#include <nlohmann/json.hpp>
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

}  // namespace dragoman
