#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

struct CurvePoint {
  int64_t update, labels;
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

/// A self-contained HTML page: a chart for each curve name, with a line for each run that has it.
std::string plot_page(const std::vector<RunCurves>& runs);

}  // namespace dragoman
