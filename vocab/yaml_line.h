#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

struct YamlEntry {
  std::string piece;
  int64_t id;
};

/// Parses a line "piece: id" of a YAML mapping from text to numbers; nothing for another line. The piece is plain, in
/// single quotes or in double quotes with escapes. It is always text: `null: 5` is the piece "null".
std::optional<YamlEntry> parse_yaml_line(std::string_view line);

}  // namespace dragoman
