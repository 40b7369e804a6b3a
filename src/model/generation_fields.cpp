#include "model/field_tables.h"

namespace dragoman {

using C = ModelConfig;

std::span<const ConfigField> generation_fields() {
  static constexpr ConfigField fields[] = {
      {.key = "source_bos", .member = [](C& c) { return member(c.generation.source_bos); }, .since_first = false},
      {.key = "source_eos", .member = [](C& c) { return member(c.generation.source_eos); }, .since_first = false},
      {.key = "source_language",
       .member = [](C& c) { return member(c.generation.source_language); },
       .since_first = false},
      {.key = "target_language",
       .member = [](C& c) { return member(c.generation.target_language); },
       .since_first = false},
      {.key = "source_language_id",
       .member = [](C& c) { return member(c.generation.source_language_id); },
       .bounds = {-1, 1e9},
       .since_first = false},
      {.key = "target_language_id",
       .member = [](C& c) { return member(c.generation.target_language_id); },
       .bounds = {-1, 1e9},
       .since_first = false},
      {.key = "target_language_blank_id",
       .member = [](C& c) { return member(c.generation.target_language_blank_id); },
       .bounds = {-1, 1e9},
       .since_first = false},
      {.key = "suppressed_ids", .member = [](C& c) { return member(c.generation.suppressed); }, .since_first = false},
      {.key = "search_rule", .member = [](C& c) { return member(c.generation.search_rule); }, .since_first = false},
  };
  return fields;
}

}  // namespace dragoman
