#include "runlog/run_log.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "runlog/json_log.h"
#include "runlog/tensorboard.h"
#include "runlog/text_log.h"
#include "runlog/valid_log.h"

namespace dragoman {

namespace {

class ObserverLog : public RunSink {
 public:
  explicit ObserverLog(RunObserver observer) : observer_(std::move(observer)) {}
  void take(const RunMoment& now, const RunEvent& event) override { observer_(now, event); }

 private:
  const RunObserver observer_;
};

}  // namespace

RunLog::RunLog(const RunLogOptions& options, Unwritten& unwritten) : unwritten_(unwritten) {
  sinks_.push_back({"", std::make_unique<TextLog>(options.progress_bar)});
  if (options.observer) sinks_.push_back({"", std::make_unique<ObserverLog>(options.observer)});
  if (!options.log_json.empty()) sinks_.push_back({"--log-json", std::make_unique<JsonLog>(options.log_json)});
  if (!options.tensorboard.empty())
    sinks_.push_back({"--tensorboard", std::make_unique<TensorBoardLog>(options.tensorboard)});
  if (!options.valid_log.empty()) sinks_.push_back({"--valid-log", std::make_unique<ValidLog>(options.valid_log)});
}

template <class F>
void RunLog::for_each_sink(const F& f) {
  std::erase_if(sinks_, [&](Named& to) {
    try {
      f(*to.sink);
      return false;
    } catch (const Error& error) {
      if (to.option.empty()) throw;  // the observer's own
      unwritten_.add(to.option, error.what());
      log_warning("training continues without {}, and will end with an error: {}", to.option, error.what());
    } catch (const BrokenPipe&) {  // main() would exit because of it
      log_warning("training continues without {}: its reader has closed it", to.option);
    }
    return true;
  });
}

void RunLog::announce(RunMoment now, const RunEvent& event) {
  now.seconds = clock_.seconds();
  for_each_sink([&](RunSink& sink) { sink.take(now, event); });
}

void RunLog::tick(RunMoment now, const RunReport& so_far) {
  now.seconds = clock_.seconds();
  for (const Named& to : sinks_) to.sink->tick(now, so_far);
}

void RunLog::close() {
  for_each_sink([](RunSink& sink) { sink.close(); });
}

}  // namespace dragoman
