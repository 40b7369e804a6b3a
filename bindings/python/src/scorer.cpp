#include "dragoman/scorer.h"

#include <mutex>

#include "base/error.h"
#include "base/own_process.h"
#include "bindings/python/src/machine.h"

namespace dragoman::python {
namespace {

class PythonScorer {
 public:
  PythonScorer(const Machine& machine, ScorerOptions options) {
    engine_ = engine_of(machine);
    const WithoutLock unlocked;
    scorer_ = std::make_unique<Scorer>(*engine_, std::move(options));
  }
  ~PythonScorer() {
    try {
      close();
    } catch (...) {  // there is nowhere to report it
    }
  }

  // In a child of fork() the turn may be that of a thread which is not there.
  void close() {
    const WithoutLock unlocked;
    std::unique_lock turn(turn_, std::defer_lock);
    if (!process_.forked()) turn.lock();
    scorer_.reset();
    engine_.reset();
  }

  std::vector<ScoredPair> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                int64_t pairs_before) {
    process_.require_not_forked("scorer");
    const WithoutLock unlocked;
    const std::lock_guard turn(turn_);
    require(bool(scorer_), "the scorer is closed");
    return scorer_->score(sources, targets, pairs_before);
  }

 private:
  const OwnProcess process_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Scorer> scorer_;
  std::mutex turn_;
};

}  // namespace

void add_scorer(py::module_& module) {
  using namespace py::literals;
  py::class_<ScoredPair>(module, "ScoredPair", "The scores of a pair of lines.")
      .def_readonly("log_prob", &ScoredPair::log_prob, "log p(target | source), base e.")
      .def_readonly("token_log_probs", &ScoredPair::token_log_probs,
                    "Of each target token, end of sentence included, base e.")
      .def("__repr__",
           [](const ScoredPair& s) {
             return "ScoredPair(log_prob=" + std::string(py::repr(py::float_(s.log_prob))) + ")";
           })
      .def(py::pickle([](const ScoredPair& s) { return py::make_tuple(s.log_prob, s.token_log_probs); },
                      [](const py::tuple& state) {
                        return ScoredPair{state[0].cast<double>(), state[1].cast<std::vector<float>>()};
                      }));
  py::class_<PythonScorer>(module, "Scorer")
      .def(py::init([](std::string model, int64_t mini_batch_words, int max_length, std::vector<std::string> vocabs,
                       std::string source_lang, std::string target_lang, std::string device, int threads,
                       py::object log) {
             return std::make_unique<PythonScorer>(Machine{std::move(device), threads, std::move(log)},
                                                   ScorerOptions{.model = std::move(model),
                                                                 .mini_batch_words = mini_batch_words,
                                                                 .max_length = max_length,
                                                                 .vocabs = std::move(vocabs),
                                                                 .source_lang = std::move(source_lang),
                                                                 .target_lang = std::move(target_lang)});
           }),
           py::kw_only(), "model"_a, "mini_batch_words"_a, "max_length"_a, "vocabs"_a, "source_lang"_a, "target_lang"_a,
           "device"_a, "threads"_a, "log"_a)
      .def("score", &PythonScorer::score, "sources"_a, "targets"_a, "pairs_before"_a)
      .def("close", &PythonScorer::close);
}

}  // namespace dragoman::python
