#include "pages/page_data.h"

namespace dragoman {

std::string safe_in_script(const nlohmann::ordered_json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

}  // namespace dragoman
