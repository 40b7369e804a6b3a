#include "runlog/run_curves.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/log.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

/// Gathers the curves of a log of train --log-json, line by line.
class CurveReader {
 public:
  explicit CurveReader(std::string name) : run_{std::move(name), {}} {}

  void take(const Json& line) {
    const std::string event = line.at("event");
    const int64_t update = line.at("update");
    if (event == "start" || event == "rollback") truncate_after(update);
    if (event == "report") {
      add(line, "cost", line.at("cost"));
      add(line, "alignment_cost", line.value("alignment_cost", Json()));  // with --guided-alignment
      for (const char* name : {"learning_rate", "words_per_second", "gradient_norm"}) add(line, name, line.at(name));
    }
    if (event == "validation")
      for (const auto& [metric, value] : line.at("metrics").items()) add(line, metric, value);
  }

  RunCurves curves() { return std::move(run_); }

 private:
  // After a kill or a rollback, updates reported after the checkpoint are trained again.
  void truncate_after(int64_t update) {
    for (Curve& curve : run_.curves)
      while (!curve.points.empty() && curve.points.back().update > update) curve.points.pop_back();
  }

  void add(const Json& line, const std::string& name, const Json& value) {
    if (!value.is_number()) return;  // null: not finite
    auto curve = std::ranges::find(run_.curves, name, &Curve::name);
    if (curve == run_.curves.end()) curve = run_.curves.insert(curve, Curve{name, {}});
    curve->points.push_back({line.at("update"), line.at("target_tokens"), value});
  }

  RunCurves run_;
};

}  // namespace

RunCurves read_curves(const std::string& path) {
  CurveReader reader(path);
  LineReader lines(path, "the lines of dragoman train --log-json");
  int64_t broken = 0;
  for (std::string line; lines.next(line);) {
    try {
      reader.take(Json::parse(line));
    } catch (const Json::exception&) {
      ++broken;
    }
  }
  RunCurves run = reader.curves();
  if (run.curves.empty())
    throw Error(fmt::format("{} has no report and no validation in its {} lines", lines.name(), lines.lines()),
                "plot draws logs of dragoman train --log-json, from the first report (--disp-freq) on");
  if (broken > 0) log_warning("{}: {} of {} lines are not events and are skipped", lines.name(), broken, lines.lines());
  return run;
}

}  // namespace dragoman
