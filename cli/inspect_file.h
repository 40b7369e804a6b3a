#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "cli/fact_page.h"

namespace dragoman {

using Json = nlohmann::ordered_json;

/// What `dragoman inspect` says of a file, for people and for programs. "kind" in the JSON object tells what it is:
/// model, training-state, safetensors (of another program) or vocabulary.
struct Description {
  FactPage page;
  Json json;
};

/// Throw Error when the file is damaged or, for models, from a newer version.
Description describe_safetensors(const std::string& path);  // a model, a training state or another program's file
Description describe_vocabulary(const std::string& path);   // SentencePiece

}  // namespace dragoman
