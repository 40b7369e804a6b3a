#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "cli/fact_page.h"
#include "interop/converted_model.h"

namespace dragoman {

using Json = nlohmann::ordered_json;

/// The report of `dragoman inspect` on a file, as text and as JSON. "kind" in the JSON object is model, training-state,
/// shortlist, safetensors (of another program) or vocabulary.
struct Description {
  FactPage page;
  Json json;
};

Description describe_converted(const std::string& path, ConvertedModel model);  // of another program
/// Throw Error if the file is damaged or, for models, from a newer version.
Description describe_safetensors(const std::string& path);  // a model, a training state or another program's file
Description describe_vocabulary(const std::string& path);   // SentencePiece

}  // namespace dragoman
