#include "runlog/tensorboard.h"

#include <chrono>

namespace dragoman {
namespace {

// One function object of several lambdas, for std::visit.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

double time_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::vector<Scalar> scalars_of(const RunReport& r) {
  std::vector<Scalar> scalars = {{"train/cost", r.cost},
                                 {"train/words_per_second", r.words_per_second},
                                 {"train/learning_rate", r.learning_rate},
                                 {"train/gradient_norm", r.gradient_norm}};
  if (r.alignment_cost >= 0) scalars.push_back({"train/alignment_cost", r.alignment_cost});
  return scalars;
}

std::vector<Scalar> scalars_of(const RunValidation& v) {
  std::vector<Scalar> scalars;
  for (const auto& f : v.figures) scalars.push_back({"valid/" + f.metric, f.value});
  return scalars;
}

}  // namespace

TensorBoardLog::TensorBoardLog(const std::string& folder) : file_(folder, time_now()) {}

void TensorBoardLog::take(const RunMoment& now, const RunEvent& event) {
  const double time = time_now();
  const auto scalars = [&](const auto& e) { file_.write(scalars_event(time, now.updates, scalars_of(e))); };
  const auto restart = [&] { file_.write(restart_event(time, now.updates + 1)); };
  std::visit(Overloaded{scalars,  //
                        [&](const RunStarted& e) {
                          if (e.resumes) restart();
                        },                                       //
                        [&](const RunRollback&) { restart(); },  //
                        [](const RunSave&) {}, [](const RunSkip&) {}, [](const RunDecay&) {}, [](const RunEnd&) {}},
             event);
}

}  // namespace dragoman
