#include "explain/attention_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string text_of(const T& value) {
  return json_text(Json(value));
}

std::string to_json(const AttentionMap& map) {
  Json heads = Json::array();
  std::string weights;
  for (const HeadMap& head : map.heads) {
    heads.push_back(head.head == HeadMap::mean ? Json("mean") : Json(head.head));
    weights += (weights.empty() ? "" : ",") + json_rows(head.weights, map.keys);
  }
  return fmt::format(R"({{"name":{},"site":"{}","layer":{},"heads":{},"weights":[{}]}})", text_of(map.name),
                     name_of(map.site), map.layer, heads.dump(), weights);
}

}  // namespace

// Formatted here, because the JSON library would print each float with the digits of a double.
std::string json_rows(const std::vector<float>& values, int64_t cols) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    const bool first = i % size_t(cols) == 0, last = (i + 1) % size_t(cols) == 0;
    text += first ? (i == 0 ? "[" : ",[") : ",";
    text += std::isfinite(values[i]) ? fmt::format("{:.6g}", values[i]) : "null";
    if (last) text += "]";
  }
  return text + "]";
}

std::string to_json(const Explanation& e) {
  std::string text = fmt::format(R"({{"line":{},"method":"{}")", e.line, name_of(e.method));
  if (!e.missing.empty()) return text + fmt::format(R"(,"missing":{}}})", text_of(e.missing));
  std::string maps;
  for (const AttentionMap& map : e.maps) maps += (maps.empty() ? "" : ",") + to_json(map);
  return text + fmt::format(R"(,"source":{},"read":{},"predicted":{},"attention":[{}]}})", text_of(e.source),
                            text_of(e.read), text_of(e.predicted), maps);
}

}  // namespace dragoman
