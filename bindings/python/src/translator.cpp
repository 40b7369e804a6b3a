#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/own_process.h"
#include "bindings/python/src/machine.h"
#include "bindings/python/src/named.h"
#include "decode/options.h"
#include "dragoman/background_translator.h"
#include "model/config.h"

namespace dragoman::python {
namespace {

// How often a waiting thread looks whether Ctrl-C was pressed.
constexpr std::chrono::milliseconds patience(100);

// A request that was submitted. Its answer comes in the translator's thread; Python waits in any.
struct Answer {
  void set(TranslationAnswer answer) {
    {
      const std::lock_guard lock(mutex);
      given = std::move(answer);
    }
    there.notify_all();
  }
  bool done() {
    const std::lock_guard lock(mutex);
    return given.has_value();
  }
  bool wait() {
    const py::gil_scoped_release unlocked;
    std::unique_lock lock(mutex);
    return there.wait_for(lock, patience, [&] { return given.has_value(); });
  }

  std::mutex mutex;
  std::condition_variable there;
  std::optional<TranslationAnswer> given;
};

class Job {
 public:
  Job(std::weak_ptr<BackgroundTranslator> translator, std::shared_ptr<Answer> answer)
      : translator_(std::move(translator)), answer_(std::move(answer)) {}
  void set_ticket(BackgroundTranslator::Ticket ticket) { ticket_ = ticket; }

  bool done() {
    process_.require_not_forked("translator");
    return answer_->done();
  }

  std::vector<TranslatedText> result() {
    while (!done() && !answer_->wait()) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    if (answer_->given->error) std::rethrow_exception(answer_->given->error);
    require(!answer_->given->cancelled, "the translation was cancelled");
    return answer_->given->best;
  }

  bool cancel() {
    const py::gil_scoped_release unlocked;
    const auto translator = translator_.lock();
    return translator && !process_.forked() && translator->cancel(ticket_);
  }

 private:
  const OwnProcess process_;
  const std::weak_ptr<BackgroundTranslator> translator_;
  const std::shared_ptr<Answer> answer_;
  BackgroundTranslator::Ticket ticket_ = 0;
};

class PythonTranslator {
 public:
  PythonTranslator(const Machine& machine, const TextTranslatorOptions& options) {
    auto engine = engine_of(machine);
    const py::gil_scoped_release unlocked;
    translator_ = std::make_shared<BackgroundTranslator>(std::move(engine), options);
  }
  ~PythonTranslator() { close(); }

  // The translator's thread may want the lock before it can be joined.
  void close() {
    auto last = std::move(translator_);
    const py::gil_scoped_release unlocked;
    last.reset();
  }

  std::unique_ptr<Job> submit(TranslationRequest request, const py::object& done) {
    auto translator = translator_;  // another thread may close() meanwhile
    require(bool(translator), "the translator is closed");
    const auto answer = std::make_shared<Answer>();
    auto job = std::make_unique<Job>(translator, answer);
    SharedObject call;
    if (!done.is_none()) call = shared(done);
    const py::gil_scoped_release unlocked;
    const auto last = std::move(translator);  // let go without the lock, since it may be the last
    job->set_ticket(last->submit(std::move(request), [answer, call](TranslationAnswer given) {
      answer->set(std::move(given));
      if (call) tell(*call);
    }));
    return job;
  }

 private:
  static void tell(const py::object& done) {
    const py::gil_scoped_acquire lock;
    try {
      done();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("a translation's function");
    }
  }

  std::shared_ptr<BackgroundTranslator> translator_;
};

std::string described(const TranslatedText& t) {
  return fmt::format("Translation(text={}, score={:.4f})", std::string(py::repr(py::str(t.text))), t.score);
}

void add_search_options(py::module_& module) {
  py::class_<SearchOptions>(module, "SearchOptions")
      .def(py::init<>())
      .def_readwrite("beam_size", &SearchOptions::beam_size)
      .def_readwrite("n_best", &SearchOptions::n_best)
      .def_property(
          "rule", [](const SearchOptions& o) { return std::string(name_of(o.rule)); },
          [](SearchOptions& o, const std::string& name) { o.rule = named<SearchRule>(name, "rule"); })
      .def_readwrite("normalize", &SearchOptions::normalize)
      .def_readwrite("length_penalty", &SearchOptions::length_penalty)
      .def_readwrite("word_penalty", &SearchOptions::word_penalty)
      .def_readwrite("max_length_add", &SearchOptions::max_length_add)
      .def_readwrite("max_length_factor", &SearchOptions::max_length_factor)
      .def_readwrite("min_length", &SearchOptions::min_length)
      .def_readwrite("min_length_factor", &SearchOptions::min_length_factor)
      .def_readwrite("no_repeat_ngram", &SearchOptions::no_repeat_ngram)
      .def_readwrite("allow_unk", &SearchOptions::allow_unk)
      .def_property(
          "sampling",
          [](const SearchOptions& o) {
            return o.sampling == Sampling::none ? std::string() : std::string(name_of(o.sampling));
          },
          [](SearchOptions& o, const std::string& name) {
            o.sampling = name.empty() ? Sampling::none : named<Sampling>(name, "sampling");
          })
      .def_readwrite("sampling_pieces", &SearchOptions::sampling_pieces)
      .def_readwrite("sampling_mass", &SearchOptions::sampling_mass)
      .def_readwrite("temperature", &SearchOptions::temperature)
      .def_readwrite("seed", &SearchOptions::seed);
}

}  // namespace

void add_translator(py::module_& module) {
  using namespace py::literals;
  add_search_options(module);
  py::class_<TranslatedText>(module, "Translation", "A translation of a text.")
      .def_readonly("text", &TranslatedText::text)
      .def_readonly("log_prob", &TranslatedText::log_prob)
      .def_readonly("score", &TranslatedText::score)
      .def_readonly("token_log_probs", &TranslatedText::token_log_probs)
      .def("__repr__", described)
      .def("__str__", [](const TranslatedText& t) { return t.text; });
  py::class_<Job>(module, "Job").def("done", &Job::done).def("result", &Job::result).def("cancel", &Job::cancel);
  py::class_<PythonTranslator>(module, "Translator")
      .def(py::init([](std::vector<std::string> models, std::vector<double> weights, const std::string& precision,
                       std::string shortlist, std::vector<std::string> vocabs, std::string source_lang,
                       std::string target_lang, int max_length, std::string device, int threads, py::object log) {
             return std::make_unique<PythonTranslator>(
                 Machine{std::move(device), threads, std::move(log)},
                 TextTranslatorOptions{.models = std::move(models),
                                       .weights = std::move(weights),
                                       .precision = named<Precision>(precision, "precision"),
                                       .shortlist = std::move(shortlist),
                                       .vocabs = std::move(vocabs),
                                       .source_lang = std::move(source_lang),
                                       .target_lang = std::move(target_lang),
                                       .max_length = max_length});
           }),
           py::kw_only(), "models"_a, "weights"_a, "precision"_a, "shortlist"_a, "vocabs"_a, "source_lang"_a,
           "target_lang"_a, "max_length"_a, "device"_a, "threads"_a, "log"_a)
      .def(
          "submit",
          [](PythonTranslator& translator, std::string text, std::string prefix, const SearchOptions& search,
             const py::object& done) {
            const bool scores = search.n_best > 0;  // are shown
            return translator.submit(
                {.text = std::move(text), .search = search, .prefix = std::move(prefix), .scores = scores}, done);
          },
          "text"_a, "prefix"_a, "search"_a, "done"_a)
      .def("close", &PythonTranslator::close);
}

}  // namespace dragoman::python
