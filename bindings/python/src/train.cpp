#include "dragoman/train.h"

#include <algorithm>

#include "base/error.h"
#include "bindings/python/src/machine.h"
#include "bindings/python/src/run_events.h"
#include "bindings/python/src/run_thread.h"
#include "options/parse.h"
#include "options/train_table.h"
#include "runlog/end_reason.h"

namespace dragoman::python {
namespace {

// A keyword and the words of its value; none: True, as an option without a value.
using Keyword = std::pair<std::string, std::optional<std::vector<std::string>>>;

NamedOption option_of(const Keyword& keyword, const std::vector<Option>& options) {
  const auto& [argument, words] = keyword;
  NamedOption named{.name = argument, .values = words.value_or(Strings())};
  std::ranges::replace(named.name, '_', '-');
  const Option* option = find(options, named.name);
  if (!option) return named;  // train() says what is wrong
  if (option->owner != Owner::work)
    throw Error(fmt::format("train has no option {}", argument), "only the command line has it");
  const bool lone = option->stands_alone() && !option->list;
  const std::string expected = option->boolean ? "True or False" : std::string(option->value);
  if (!words && !lone) fail("{} is True, expected {}", argument, expected);
  if (words && words->empty() && !option->list) fail("{} is an empty list, expected {}", argument, expected);
  return named;
}

NamedOptions options_of(const std::vector<Keyword>& keywords) {
  TrainOptions none;
  const Table<TrainOptions> table = train_table();
  const std::vector<Option> options = bind_flags(table.flags, none);
  NamedOptions named;
  for (const Keyword& keyword : keywords) named.push_back(option_of(keyword, options));
  return named;
}

// What Python does with the events of a run, in the thread that called train().
class Caller {
 public:
  Caller(RunThread& run, py::object on_event, py::object log)
      : run_(run), on_event_(std::move(on_event)), log_(std::move(log)) {}

  void check_signals() {
    if (PyErr_CheckSignals() != 0) interrupt(py::error_already_set());
  }

  void take(const RunThread::Event& event) {
    try {
      if (!on_event_.is_none()) on_event_(object_of(event.now, event.event));
    } catch (const py::error_already_set& error) {
      react(error);
    }
    run_.take_event();
  }

  const std::optional<py::error_already_set>& raised() const { return raised_; }
  // Whether train() raises while the run continues.
  bool left() const { return left_; }

 private:
  void react(const py::error_already_set& error) {
    if (error.matches(py::module_::import("dragoman._train").attr("StopTraining"))) return run_.stop();
    if (error.matches(PyExc_KeyboardInterrupt)) return interrupt(error);
    remember(error);
    run_.abandon();
  }

  // What a signal raises comes at any time, so the run saves what it has learned; a second one does not wait for that.
  void interrupt(const py::error_already_set& error) {
    left_ = raised_ || !run_.started();
    remember(error);
    if (left_)
      run_.leave();
    else
      run_.stop();
  }

  // Python raises one exception, the first.
  void remember(const py::error_already_set& error) {
    if (raised_)
      log_(true, message_of(error.what()));
    else
      raised_.emplace(error);
  }

  RunThread& run_;
  const py::object on_event_, log_;
  std::optional<py::error_already_set> raised_;  // ends the run
  bool left_ = false;
};

using Result = std::tuple<std::string, int64_t, double>;

Result finish(RunThread& run, const py::object& on_event, const py::object& log) {
  Caller caller(run, on_event, log);
  run.begin();
  while (!run.ended() && !caller.left()) {
    const auto event = run.wait();
    caller.check_signals();
    if (event && !caller.left()) caller.take(*event);
  }
  if (caller.left()) throw py::error_already_set(*caller.raised());
  try {
    const std::optional<TrainResult> result = run.result();
    if (!result && !caller.raised()) end_with_the_process();
    if (!caller.raised()) return {std::string(name_of(result->reason)), result->updates, result->epochs};
  } catch (const std::exception& error) {
    if (!caller.raised()) throw;
    log(true, message_of(error.what()));
  }
  throw py::error_already_set(*caller.raised());
}

}  // namespace

void add_train(py::module_& module) {
  using namespace py::literals;
  py::class_<RunThread, std::shared_ptr<RunThread>>(module, "TrainingRun")
      .def(py::init([](const std::vector<Keyword>& options, std::string device, int threads, bool fast_math,
                       py::object log) {
             return RunThread::make(engine_of({std::move(device), threads, std::move(log), fast_math}),
                                    options_of(options));
           }),
           py::kw_only(), "options"_a, "device"_a, "threads"_a, "fast_math"_a, "log"_a)
      .def("finish", finish, "on_event"_a, "log"_a)
      .def("ended", &RunThread::ended)
      .def("close", &RunThread::close);
}

}  // namespace dragoman::python
