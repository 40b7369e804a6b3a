#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/text_order.h"

namespace dragoman {

/// What /v1/translate is asked.
struct TranslateRequest {
  TextOrder order;
  std::string source, target;  // languages; empty: of the only model
  std::string api_key;
  bool several = false;  // texts came as an array
  bool scores = false;   // of tokens
  bool stream = false;
};

/// Reads the parameters, each of which has its type and bounds. `order.search` begins as `standard`. Error for what is
/// unknown or out of bounds, and for options that contradict each other.
TranslateRequest read_translate_request(const nlohmann::json& fields, const SearchOptions& standard);

}  // namespace dragoman
