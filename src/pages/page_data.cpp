#include "pages/page_data.h"

namespace dragoman {

std::string safe_in_script(const nlohmann::ordered_json& data) {
  std::string text = data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace dragoman
