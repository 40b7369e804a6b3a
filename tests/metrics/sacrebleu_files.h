#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "metrics/segments.h"
#include "tests/source_dir.h"

namespace dragoman {

using Lines = std::vector<std::string>;

/// A file of stored scores, written by tests/metrics/make.py.
inline nlohmann::json sacrebleu_figures(const std::string& name) {
  return nlohmann::json::parse(read_file(source_dir() + "/tests/metrics/" + name));
}

/// Views of `lines`.
inline std::vector<Segments> segments_of(const std::vector<Lines>& lines) { return {lines.begin(), lines.end()}; }

}  // namespace dragoman
