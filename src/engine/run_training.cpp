#include "engine/run_training.h"

#include <fmt/format.h>

#include <typeinfo>

#include "base/error.h"
#include "runlog/message_file.h"
#include "train/destination.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

// Empty if all messages were written.
std::string failure_of(MessageFile& messages) {
  try {
    messages.close();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The --log file also receives the error that ends a run.
void logged_to(const std::string& path, const std::function<void()>& work) {
  if (path.empty()) return work();
  MessageFile messages(path);
  try {
    work();
  } catch (const Error& error) {
    messages.write(fmt::format("error: {}", error.what()));
    const std::string failure = failure_of(messages);
    if (failure.empty() || typeid(error) != typeid(Error)) throw;  // callers tell derived types apart
    throw Error(fmt::format("{}\n  {}", error.what(), failure), error.hint());
  } catch (const std::exception& error) {
    messages.write(fmt::format("error: {}", error.what()));
    throw;
  }
  messages.close();
}

}  // namespace

TrainingSetup setup_of(const TrainOptions& o) { return {.model = o, .data = o, .optimizer = o, .training = o}; }

TrainResult run_training(const TrainOptions& options, const Backend& backend, RunControl& control,
                         Communicator& ranks) {
  TrainResult result;
  TrainingSetup setup = setup_of(options);
  setup.training.observer = [&](const RunMoment& now, const RunEvent& event) {
    if (const auto* end = std::get_if<RunEnd>(&event)) result = {end->reason, now.updates, end->epochs};
    if (options.observer) options.observer(now, event);
  };
  logged_to(ranks.rank() == 0 ? options.log : "", [&] {
    std::optional<ModelLock> lock;
    if (ranks.rank() == 0) lock.emplace(options.model);
    Trainer(std::move(setup), backend, control, ranks).run();
  });
  return result;
}

}  // namespace dragoman
