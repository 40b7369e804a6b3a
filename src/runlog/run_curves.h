#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

struct CurvePoint {
  int64_t update, target_tokens;
  double value;
};

/// One quantity of a run: "cost", "bleu", …
struct Curve {
  std::string name;
  std::vector<CurvePoint> points;  // by update
};

struct RunCurves {
  std::string name;
  std::vector<Curve> curves;
};

/// The curves of a log of train --log-json. Lines that are not events are skipped with a warning: a killed process may
/// leave an incomplete line. Error if there is nothing to draw.
RunCurves read_curves(const std::string& path);

}  // namespace dragoman
