#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace dragoman {

/// JSON for a script element of a page, escaped so that no data can end the element.
std::string safe_in_script(const nlohmann::ordered_json& data);

}  // namespace dragoman
