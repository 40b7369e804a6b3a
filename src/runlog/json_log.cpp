#include "runlog/json_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/utc_time.h"
#include "runlog/end_reason.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

// Leaves the key out if the value is unknown.
void add_known(Json& line, const char* key, double value) {
  if (value >= 0) line[key] = value;
}

void add_text(Json& line, const char* key, const std::string& text) {
  if (!text.empty()) line[key] = text;
}

std::string add(Json& line, const RunStarted& e) {
  line["version"] = DRAGOMAN_VERSION;
  line["model"] = e.model;
  line["parameters"] = e.parameters;
  line["resumed"] = e.resumes;
  return "start";
}

std::string add(Json& line, const RunReport& e) {
  line["cost"] = e.cost;
  add_known(line, "alignment_cost", e.alignment_cost);
  line["words_per_second"] = e.words_per_second;
  line["learning_rate"] = e.learning_rate;
  line["gradient_norm"] = e.gradient_norm;
  add_known(line, "remaining_seconds", e.remaining);
  return "report";
}

std::string add(Json& line, const RunValidation& e) {
  Json metrics = Json::object(), best = Json::array();
  for (const auto& f : e.figures) {
    metrics[f.metric] = f.value;
    if (f.better && !e.requested) best.push_back(f.metric);
  }
  line["metrics"] = metrics;
  line["best"] = best;
  line["stalled"] = e.stalled;
  line["requested"] = e.requested;
  return "validation";
}

std::string add(Json& line, const RunSave& e) {
  line["model"] = e.model;
  line["saved"] = e.failure.empty();
  add_text(line, "failure", e.failure);
  return "save";
}

std::string add(Json& line, const RunSkip& e) {
  line["consecutive"] = e.consecutive;
  line["total"] = e.total;
  add_text(line, "first_nonfinite", e.first_nonfinite);
  return "skip";
}

std::string add(Json& line, const RunRollback& e) {
  line["from_update"] = e.from_update;
  line["rate_factor"] = e.rate_factor;
  add_text(line, "first_nonfinite", e.first_nonfinite);
  return "rollback";
}

std::string add(Json& line, const RunDecay& e) {
  line["learning_rate"] = e.learning_rate;
  line["factor"] = e.factor;
  line["rate_factor"] = e.rate_factor;
  line["reason"] = e.reason;
  return "decay";
}

std::string add(Json& line, const RunEnd& e) {
  line["reason"] = name_of(e.reason);
  line["epochs"] = int64_t(e.epochs);
  return "end";
}

}  // namespace

std::string json_line(const RunMoment& now, const RunEvent& event, int64_t time) {
  Json fields;
  const std::string name = std::visit([&](const auto& e) { return add(fields, e); }, event);
  Json line = {{"event", name},
               {"time", utc_time(time)},
               {"seconds", std::round(now.seconds * 1e6) / 1e6},
               {"epoch", now.epoch},
               {"update", now.updates},
               {"epoch_sentences", now.epoch_sentences},
               {"target_tokens", now.target_tokens}};
  line.update(fields);
  return json_text(line);  // names of files may be any bytes
}

JsonLog::JsonLog(const std::string& path) : file_(FileDescriptor::to_append_lines(path)) {}

void JsonLog::take(const RunMoment& now, const RunEvent& event) {
  file_.write(json_line(now, event, std::time(nullptr)) + "\n");
}

}  // namespace dragoman
