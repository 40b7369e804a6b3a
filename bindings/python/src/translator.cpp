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

// How often a waiting thread checks for Ctrl-C.
constexpr std::chrono::milliseconds patience(100);

// Lines that were submitted together. Answers come in the translator's thread; any Python thread may wait for them.
struct Answers {
  explicit Answers(size_t lines) : missing(lines), given(lines) {}

  // Whether it was the last.
  bool set(size_t line, TranslationAnswer answer) {
    const std::lock_guard lock(mutex);
    given[line] = std::move(answer);
    if (--missing > 0) return false;
    news.notify_all();
    return true;
  }
  void set_partial(const std::string& text) {
    const std::lock_guard lock(mutex);
    partial = text;
    news.notify_all();
  }
  bool done() {
    const std::lock_guard lock(mutex);
    return missing == 0;
  }
  std::optional<std::string> take_partial() {
    const std::lock_guard lock(mutex);
    return std::exchange(partial, {});
  }
  // For all answers, or for a part of one. False: neither came in time.
  bool wait(bool for_partial) {
    const WithoutLock unlocked;
    std::unique_lock lock(mutex);
    return news.wait_for(lock, patience, [&] { return missing == 0 || (for_partial && partial); });
  }

  std::mutex mutex;
  std::condition_variable news;
  size_t missing;
  std::vector<TranslationAnswer> given;
  std::optional<std::string> partial;  // what the last line's translation begins with, unless it was taken
};

// An opaque handle.
struct PythonForbiddenPhrases {
  std::shared_ptr<const ForbiddenPhrases> forbidden;
};

struct PythonGlossary {
  std::shared_ptr<const Glossary> glossary;
};

class Job {
 public:
  Job(std::weak_ptr<BackgroundTranslator> translator, std::shared_ptr<Answers> answers)
      : translator_(std::move(translator)), answers_(std::move(answers)) {}
  void add_ticket(BackgroundTranslator::Ticket ticket) { tickets_.push_back(ticket); }

  bool done() {
    process_.require_not_forked("translator");
    return answers_->done();
  }

  std::vector<std::vector<TranslatedText>> result() {
    std::vector<std::vector<TranslatedText>> all;
    for (const TranslationAnswer& answer : answers()) all.push_back(answer.best);
    return all;
  }

  // Of the best translations.
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (const TranslationAnswer& answer : answers()) all.push_back(answer.best[0].text);
    return all;
  }

  std::optional<std::string> partial(bool wait) {
    if (wait) wait_for(true);
    return answers_->take_partial();
  }

  // Without the interpreter's lock, since the translator may end with it.
  void cancel() {
    const auto translator = translator_.lock();
    if (!translator || process_.forked()) return;
    for (const auto ticket : tickets_) translator->cancel(ticket);
  }

 private:
  void wait_for(bool partial) {
    while (!done() && !answers_->wait(partial))
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

  const std::vector<TranslationAnswer>& answers() {
    wait_for(false);
    for (const TranslationAnswer& answer : answers_->given) {
      if (answer.error) std::rethrow_exception(answer.error);
      require(!answer.cancelled, "the translation was cancelled");
    }
    return answers_->given;
  }

  const OwnProcess process_;
  const std::weak_ptr<BackgroundTranslator> translator_;
  const std::shared_ptr<Answers> answers_;
  std::vector<BackgroundTranslator::Ticket> tickets_;
};

class PythonTranslator {
 public:
  PythonTranslator(const Machine& machine, const TextTranslatorOptions& options) {
    auto engine = engine_of(machine);
    const WithoutLock unlocked;
    translator_ = std::make_shared<BackgroundTranslator>(std::move(engine), options);
  }
  ~PythonTranslator() {
    try {
      close();
    } catch (...) {  // there is nowhere to report it
    }
  }

  // The translator's thread may need the lock before it can be joined.
  void close() {
    auto last = std::move(translator_);
    const WithoutLock unlocked;
    last.reset();
  }

  PythonGlossary glossary(const std::map<std::string, std::string>& terms) {
    const auto translator = translator_;
    require(bool(translator), "the translator is closed");
    const WithoutLock unlocked;
    return {translator->glossary(terms)};
  }

  PythonForbiddenPhrases forbidden_phrases(const std::vector<std::string>& phrases) {
    const auto translator = translator_;
    require(bool(translator), "the translator is closed");
    const WithoutLock unlocked;
    return {translator->forbidden_phrases(phrases)};
  }

  // `call` is called when all are answered, and with `partial` each time that a partial translation grows.
  std::unique_ptr<Job> submit(std::vector<std::string> lines, const TranslationRequest& request, bool partial,
                              const py::object& call) {
    auto translator = translator_;  // another thread may close() meanwhile
    require(bool(translator), "the translator is closed");
    const auto answers = std::make_shared<Answers>(lines.size());
    auto job = std::make_unique<Job>(translator, answers);
    SharedObject news;
    if (!call.is_none()) news = shared(call);
    const WithoutLock unlocked;
    const auto last = std::move(translator);  // let go without the lock, since it may be the last
    try {
      for (size_t i = 0; i < lines.size(); ++i) {
        TranslationRequest line_request = request;
        line_request.text = std::move(lines[i]);
        if (partial)
          line_request.partial = [answers, news](const std::string& text) {
            answers->set_partial(text);
            if (news) notify(*news);
          };
        job->add_ticket(last->submit(std::move(line_request), [answers, news, i](TranslationAnswer given) {
          if (answers->set(i, std::move(given)) && news) notify(*news);
        }));
      }
    } catch (...) {
      job->cancel();
      throw;
    }
    return job;
  }

 private:
  static void notify(const py::object& news) {
    const WithLock lock;
    try {
      news();
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

void add_translation(py::module_& module) {
  py::class_<TranslatedText>(module, "Translation", "A translation of a text.")
      .def_readonly("text", &TranslatedText::text)
      .def_readonly("log_prob", &TranslatedText::log_prob)
      .def_readonly("score", &TranslatedText::score)
      .def_readonly("token_log_probs", &TranslatedText::token_log_probs)
      .def_readonly("pieces", &TranslatedText::pieces)
      .def("__repr__", described)
      .def("__str__", [](const TranslatedText& t) { return t.text; })
      .def(py::pickle(
          [](const TranslatedText& t) {
            return py::make_tuple(t.text, t.log_prob, t.score, t.token_log_probs, t.pieces);
          },
          [](const py::tuple& state) {
            return TranslatedText{state[0].cast<std::string>(), state[1].cast<double>(), state[2].cast<double>(),
                                  state[3].cast<std::vector<float>>(), state[4].cast<std::vector<std::string>>()};
          }));
}

}  // namespace

void add_translator(py::module_& module) {
  using namespace py::literals;
  add_search_options(module);
  add_translation(module);
  py::class_<Job>(module, "Job")
      .def("done", &Job::done)
      .def("result", &Job::result)
      .def("texts", &Job::texts)
      .def("partial", &Job::partial, "wait"_a)
      .def("cancel", &Job::cancel, py::call_guard<WithoutLock>());
  const py::class_<PythonGlossary> glossary(module, "Glossary");
  const py::class_<PythonForbiddenPhrases> forbidden(module, "ForbiddenPhrases");
  py::class_<PythonTranslator>(module, "Translator")
      .def(py::init([](std::vector<std::string> models, std::vector<double> weights, const std::string& ensemble_mean,
                       const std::string& precision, std::string glossary, std::string avoid, std::string shortlist,
                       std::vector<std::string> vocabs, std::string source_lang, std::string target_lang,
                       int max_length, std::string device, int threads, py::object log) {
             return std::make_unique<PythonTranslator>(
                 Machine{std::move(device), threads, std::move(log)},
                 TextTranslatorOptions{.models = std::move(models),
                                       .weights = std::move(weights),
                                       .ensemble_mean = named<EnsembleMean>(ensemble_mean, "ensemble_mean"),
                                       .precision = named<Precision>(precision, "precision"),
                                       .glossary = std::move(glossary),
                                       .avoid = std::move(avoid),
                                       .shortlist = std::move(shortlist),
                                       .vocabs = std::move(vocabs),
                                       .source_lang = std::move(source_lang),
                                       .target_lang = std::move(target_lang),
                                       .max_length = max_length});
           }),
           py::kw_only(), "models"_a, "weights"_a, "ensemble_mean"_a, "precision"_a, "glossary"_a, "avoid"_a,
           "shortlist"_a, "vocabs"_a, "source_lang"_a, "target_lang"_a, "max_length"_a, "device"_a, "threads"_a,
           "log"_a)
      .def("glossary", &PythonTranslator::glossary, "terms"_a)
      .def("forbidden_phrases", &PythonTranslator::forbidden_phrases, "phrases"_a)
      .def(
          "submit",
          [](PythonTranslator& translator, std::vector<std::string> lines, std::string prefix,
             const SearchOptions& search, bool partial, const py::object& news, const PythonGlossary* glossary,
             const PythonForbiddenPhrases* avoid) {
            const TranslationRequest request{.search = search,
                                             .prefix = std::move(prefix),
                                             .glossary = glossary ? glossary->glossary : nullptr,
                                             .avoid = avoid ? avoid->forbidden : nullptr,
                                             .scores = search.n_best > 0};  // are shown
            return translator.submit(std::move(lines), request, partial, news);
          },
          "lines"_a, "prefix"_a, "search"_a, "partial"_a = false, "news"_a = py::none(), "glossary"_a = py::none(),
          "avoid"_a = py::none())
      .def("close", &PythonTranslator::close);
}

}  // namespace dragoman::python
