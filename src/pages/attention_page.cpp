#include "pages/attention_page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "pages/attention_page_html.h"
#include "pages/page_data.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

const char* words_for(AttentionMethod method) {
  switch (method) {
    case AttentionMethod::raw:
      return "attention weights";
    case AttentionMethod::rollout:
      return "attention rollout: shares of the inputs in each vector";
    case AttentionMethod::gradient:
      break;
  }
  return "weight × gradient of the sum of log-probabilities";
}

// Two letters per weight: 12 bits, where 2048 is 0 and 4095 is `scale`.
std::string packed(const std::vector<float>& weights, float scale) {
  static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
  std::string text;
  for (const float w : weights) {
    const int n = std::isfinite(w) ? 2048 + int(std::lround(std::clamp(w / scale, -1.0f, 1.0f) * 2047)) : 2048;
    text += {letters[n / 64], letters[n % 64]};
  }
  return text;
}

// The value of the darkest colour: 1 for raw weights, else the largest weight of each site, so that heads and layers
// are comparable.
std::map<AttentionSite, float> scales(const Explanation& e) {
  std::map<AttentionSite, float> largest;
  for (const AttentionMap& map : e.maps)
    for (const HeadMap& head : map.heads)
      for (const float w : head.weights)
        if (std::isfinite(w)) largest[map.site] = std::max(largest[map.site], std::abs(w));
  for (auto& [site, scale] : largest)
    if (e.method == AttentionMethod::raw || scale == 0) scale = 1;
  return largest;
}

}  // namespace

std::string page_begin(const std::string& model, AttentionMethod method) {
  const Json about = {{"model", model}, {"method", name_of(method)}, {"words", words_for(method)}};
  return page_before_about + safe_in_script(about) + page_after_about;
}

std::string page_part(const Explanation& e) {
  const auto scale = scales(e);
  Json maps = Json::array();
  for (const AttentionMap& map : e.maps) {
    const float of_site = scale.contains(map.site) ? scale.at(map.site) : 1;
    Json heads = Json::array(), weights = Json::array();
    for (const HeadMap& head : map.heads) heads.push_back(head.head), weights.push_back(packed(head.weights, of_site));
    maps.push_back(
        {{"site", int(map.site)}, {"layer", map.layer}, {"scale", of_site}, {"heads", heads}, {"weights", weights}});
  }
  const Json data = {{"line", e.line}, {"missing", e.missing},     {"source", e.source},
                     {"read", e.read}, {"predicted", e.predicted}, {"maps", maps}};
  return "<script type=\"application/json\" class=\"pair\">" + safe_in_script(data) + "</script>\n";
}

std::string page_end() { return page_after_pairs; }

}  // namespace dragoman
