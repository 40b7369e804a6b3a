#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/text_job.h"

namespace dragoman {

/// A request to /v1/translate.
struct TranslateRequest {
  TextJob job;
  std::string source, target;  // languages; empty: of the only model
  std::string api_key;
  bool scores = false;  // of tokens
  bool stream = false;
};

/// A request to /v1/score.
struct ScoreRequest {
  std::vector<std::string> sources, targets;  // of equal length
  std::string source, target;                 // languages, as above
  std::string api_key;
};

/// Reads the parameters and checks their types and bounds. `job.search` begins as `standard`. Error for unknown
/// parameters, values out of bounds, and options that contradict each other.
TranslateRequest read_translate_request(const nlohmann::json& fields, const SearchOptions& standard);
std::vector<std::string> translate_parameter_names();  // all that a request to /v1/translate may have
ScoreRequest read_score_request(const nlohmann::json& fields);
std::string read_reload_request(const nlohmann::json& fields);  // its api_key

}  // namespace dragoman
