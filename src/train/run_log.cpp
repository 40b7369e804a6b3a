#include "train/run_log.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "train/json_log.h"
#include "train/tensorboard.h"
#include "train/text_log.h"

namespace dragoman {
namespace {

// Why the sink cannot take the event; empty when it did.
std::string failure_of(RunSink& sink, const RunMoment& now, const RunEvent& event) {
  try {
    sink.take(now, event);
    return "";
  } catch (const Error& error) {
    return error.what();
  } catch (const BrokenPipe&) {  // main() would end the program for it
    return "nobody reads it any more";
  }
}

}  // namespace

RunLog::RunLog(const TrainingOptions& options) {
  sinks_.push_back({"", std::make_unique<TextLog>(options.quiet)});
  if (!options.log_json.empty())
    sinks_.push_back({"--log-json " + options.log_json, std::make_unique<JsonLog>(options.log_json)});
  if (!options.tensorboard.empty())
    sinks_.push_back({"--tensorboard " + options.tensorboard, std::make_unique<TensorBoardLog>(options.tensorboard)});
}

RunMoment RunLog::moment(const Progress& p) const {
  return {clock_.seconds(), p.epoch(), p.updates, p.epoch_sentences, p.target_tokens};
}

void RunLog::announce(const Progress& progress, const RunEvent& event) {
  const RunMoment now = moment(progress);
  std::erase_if(sinks_, [&](Named& to) {
    const std::string failure = failure_of(*to.sink, now, event);
    if (failure.empty()) return false;
    log_warning("training continues without {}: {}", to.option, failure);
    return true;
  });
}

void RunLog::tick(const Progress& progress, const RunReport& so_far) {
  const RunMoment now = moment(progress);
  for (const Named& to : sinks_) to.sink->tick(now, so_far);
}

}  // namespace dragoman
