#include "bindings/python/src/run_events.h"

#include "runlog/end_reason.h"

namespace dragoman::python {
namespace {

using namespace py::literals;

// A file name as os.fsdecode() gives it, which need not be UTF-8.
py::str file_name(const std::string& path) {
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeFSDefaultAndSize(path.data(), py::ssize_t(path.size())));
}

// What is not known is negative, or empty.
std::optional<double> known(double value) { return value < 0 ? std::nullopt : std::optional(value); }
py::object known(const std::string& text) { return text.empty() ? py::object(py::none()) : message_of(text); }

py::dict fields_of(const RunStarted& e) {
  return py::dict("model"_a = file_name(e.model), "parameters"_a = e.parameters, "resumes"_a = e.resumes);
}

py::dict fields_of(const RunReport& e) {
  return py::dict("cost"_a = e.cost, "alignment_cost"_a = known(e.alignment_cost), "elapsed"_a = e.seconds,
                  "words_per_second"_a = e.words_per_second, "learning_rate"_a = e.learning_rate,
                  "gradient_norm"_a = e.gradient_norm, "fraction_done"_a = known(e.fraction_done),
                  "remaining"_a = known(e.remaining));
}

py::dict fields_of(const RunValidation& e) {
  const py::object make = py::module_::import("dragoman._run_event").attr("RunFigure");
  py::list figures;
  for (const RunValidation::Figure& f : e.figures)
    figures.append(make("metric"_a = f.metric, "value"_a = f.value, "better"_a = f.better,
                        "best"_a = f.any_best ? std::optional(f.best) : std::nullopt, "stalled"_a = f.stalled));
  return py::dict("figures"_a = py::tuple(figures), "stalled"_a = e.stalled, "requested"_a = e.requested);
}

py::dict fields_of(const RunSave& e) {
  return py::dict("model"_a = file_name(e.model), "failure"_a = known(e.failure));
}

py::dict fields_of(const RunSkip& e) {
  return py::dict("consecutive"_a = e.consecutive, "total"_a = e.total, "first_nonfinite"_a = known(e.first_nonfinite));
}

py::dict fields_of(const RunRollback& e) {
  return py::dict("from_update"_a = e.from_update, "rate_factor"_a = e.rate_factor,
                  "first_nonfinite"_a = known(e.first_nonfinite));
}

py::dict fields_of(const RunDecay& e) {
  return py::dict("learning_rate"_a = e.learning_rate, "factor"_a = e.factor, "rate_factor"_a = e.rate_factor,
                  "reason"_a = e.reason);
}

py::dict fields_of(const RunEnd& e) {
  return py::dict("reason"_a = std::string(name_of(e.reason)), "epochs"_a = e.epochs, "stalled"_a = e.stalled);
}

// In the order of RunEvent.
constexpr const char* classes[] = {"RunStarted", "RunReport",   "RunValidation", "RunSave",
                                   "RunSkip",    "RunRollback", "RunDecay",      "RunEnd"};
static_assert(std::size(classes) == std::variant_size_v<RunEvent>);

}  // namespace

py::object object_of(const RunMoment& now, const RunEvent& event) {
  const py::dict fields = std::visit([](const auto& e) { return fields_of(e); }, event);
  return py::module_::import("dragoman._run_event")
      .attr(classes[event.index()])("seconds"_a = now.seconds, "epoch"_a = now.epoch, "updates"_a = now.updates,
                                    "epoch_sentences"_a = now.epoch_sentences, "target_tokens"_a = now.target_tokens,
                                    **fields);
}

}  // namespace dragoman::python
