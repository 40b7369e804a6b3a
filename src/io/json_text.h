#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace dragoman {

/// Whether arrays and objects stand in one another deeper than anything that is written here. To copy and to print such
/// a text would exhaust the stack.
bool nests_too_deep(std::string_view json);

/// JSON of a file: is_discarded() where it is none, or nests too deep.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  return nests_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

}  // namespace dragoman
