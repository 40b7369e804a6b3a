#include "base/json_text.h"

namespace dragoman {

bool nests_too_deep(std::string_view json) {
  constexpr int deepest = 64;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (!quoted && (c == '[' || c == '{') && ++depth > deepest) return true;
    if (!quoted && (c == ']' || c == '}')) --depth;
  }
  return false;
}

}  // namespace dragoman
