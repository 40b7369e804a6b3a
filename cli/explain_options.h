#pragma once
#include <string>

#include "engine/explain_options.h"
#include "options/machine_options.h"

namespace dragoman {

/// Output format; automatic: by the extension of --output, else text.
enum class ExplanationFormat { automatic, html, json, text };

inline std::span<const EnumName<ExplanationFormat>> enum_names(ExplanationFormat) {
  static constexpr EnumName<ExplanationFormat> names[] = {{ExplanationFormat::automatic, "auto"},
                                                          {ExplanationFormat::html, "html"},
                                                          {ExplanationFormat::json, "json"},
                                                          {ExplanationFormat::text, "text"}};
  return names;
}

struct ExplainCommandOptions : ExplainOptions, MachineOptions {
  bool positions = false;  // show position embeddings instead of attention; without a model, the paper's sinusoids
  std::string output = "-";
  ExplanationFormat format = ExplanationFormat::automatic;
};

}  // namespace dragoman
