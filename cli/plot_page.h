#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

struct CurvePoint {
  int64_t update, labels;
  double value;
};

/// Values of one kind in a run: "cost", "bleu", …
struct Curve {
  std::string name;
  std::vector<CurvePoint> points;  // by update
};

struct RunCurves {
  std::string name;
  std::vector<Curve> curves;
};

/// One HTML page that needs nothing else: a chart for each name, with a line for each run that has it.
std::string plot_page(const std::vector<RunCurves>& runs);

}  // namespace dragoman
