#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/own_process.h"
#include "base/utf8.h"
#include "bindings/python/src/machine.h"
#include "bindings/python/src/named.h"
#include "decode/options.h"
#include "decode/search_fields.h"
#include "dragoman/background_translator.h"
#include "model/config.h"

namespace dragoman::python {
namespace {

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
    return news.wait_for(lock, signal_interval, [&] { return missing == 0 || (for_partial && partial); });
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

// Bytes become characters.
void count_characters_in(std::vector<LinkedWords>& words, const std::string& source, const std::string& target) {
  if (words.empty()) return;
  const auto in_source = characters_before(source), in_target = characters_before(target);
  const auto at = [](const std::vector<int64_t>& characters, size_t byte) { return size_t(characters[byte]); };
  for (LinkedWords& w : words)
    w = {at(in_source, w.source_begin), at(in_source, w.source_end), at(in_target, w.target_begin),
         at(in_target, w.target_end)};
}

// Whether a translator was closed because the process ends.
class Ending {
 public:
  void begin() {
    thread_ = std::this_thread::get_id();
    begun_ = true;
  }
  // All threads but the one that ends the process are daemon threads then.
  void stop_daemon_thread() const {
    if (begun_ && std::this_thread::get_id() != thread_) end_with_the_process();
  }

 private:
  std::thread::id thread_;
  std::atomic<bool> begun_ = false;
};

class Job {
 public:
  Job(std::weak_ptr<BackgroundTranslator> translator, std::shared_ptr<Answers> answers,
      std::shared_ptr<const Ending> ending)
      : translator_(std::move(translator)), answers_(std::move(answers)), ending_(std::move(ending)) {}
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
      if (answer.cancelled) ending_->stop_daemon_thread();
      require(!answer.cancelled, "the translation was cancelled");
    }
    return answers_->given;
  }

  const OwnProcess process_;
  const std::weak_ptr<BackgroundTranslator> translator_;
  const std::shared_ptr<Answers> answers_;
  const std::shared_ptr<const Ending> ending_;
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

  // Before the process ends, whose thread calls it.
  void close_at_exit() {
    ending_->begin();
    close();
  }

  PythonGlossary glossary(const std::map<std::string, std::string>& terms) {
    const auto translator = opened();
    const WithoutLock unlocked;
    return {translator->glossary(terms)};
  }

  PythonForbiddenPhrases forbidden_phrases(const std::vector<std::string>& phrases) {
    const auto translator = opened();
    const WithoutLock unlocked;
    return {translator->forbidden_phrases(phrases)};
  }

  // `call` is called when all are answered, and with `partial` each time that a partial translation grows. The first
  // line has the number `request.line`.
  std::unique_ptr<Job> submit(std::vector<std::string> lines, const TranslationRequest& request, bool partial,
                              const py::object& call) {
    auto translator = opened();  // another thread may close() meanwhile
    const auto answers = std::make_shared<Answers>(lines.size());
    auto job = std::make_unique<Job>(translator, answers, ending_);
    SharedObject news;
    if (!call.is_none()) news = shared(call);
    const WithoutLock unlocked;
    const auto last = std::move(translator);  // let go without the lock, since it may be the last
    try {
      for (size_t i = 0; i < lines.size(); ++i) {
        TranslationRequest line_request = request;
        line_request.text = std::move(lines[i]);
        line_request.line += i;
        if (partial)
          line_request.partial = [answers, news](const std::string& text) {
            answers->set_partial(text);
            if (news) notify(*news);
          };
        const std::string source = request.alignment ? line_request.text : "";
        job->add_ticket(last->submit(std::move(line_request), [answers, news, i, source](TranslationAnswer given) {
          for (TranslatedText& t : given.best) count_characters_in(t.words, source, t.text);
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

  std::shared_ptr<BackgroundTranslator> opened() const {
    if (!translator_) ending_->stop_daemon_thread();
    require(bool(translator_), "the translator is closed");
    return translator_;
  }

  std::shared_ptr<BackgroundTranslator> translator_;
  const std::shared_ptr<Ending> ending_ = std::make_shared<Ending>();
};

std::string repr_of_translation(const TranslatedText& t) {
  return fmt::format("Translation(text={}, score={:.4f})", std::string(py::repr(py::str(t.text))), t.score);
}

// The kinds of sampling have names; no sampling has an empty one.
template <class E>
std::string text_of(E value) {
  if constexpr (std::is_same_v<E, Sampling>)
    if (value == Sampling::none) return "";
  return std::string(name_of(value));
}

template <class E>
void set_text(E& value, const std::string& text, const char* name) {
  if constexpr (std::is_same_v<E, Sampling>)
    if (text.empty()) return void(value = Sampling::none);
  value = named<E>(text, name);
}

void add_search_options(py::module_& module) {
  py::class_<SearchOptions> options(module, "SearchOptions");
  options.def(py::init<>());
  for (const SearchField& field : search_fields())
    std::visit(
        [&]<class T>(T SearchOptions::*member) {
          const char* name = field.name.data();  // a literal
          if constexpr (std::is_enum_v<T>)
            options.def_property(
                name, [member](const SearchOptions& o) { return text_of(o.*member); },
                [member, name](SearchOptions& o, const std::string& text) { set_text(o.*member, text, name); });
          else
            options.def_readwrite(name, member);
        },
        field.member);
}

// `given`: the names of the options that the caller has set.
void require_effective_names(const SearchOptions& options, const std::vector<std::string>& given) {
  require_effective(
      options, [&](std::string_view name) { return std::ranges::count(given, name) > 0; }, as_name);
}

using WordTuple = std::tuple<size_t, size_t, size_t, size_t>;  // as LinkedWords

std::vector<WordTuple> tuples_of(const std::vector<LinkedWords>& words) {
  std::vector<WordTuple> tuples;
  for (const LinkedWords& w : words) tuples.emplace_back(w.source_begin, w.source_end, w.target_begin, w.target_end);
  return tuples;
}

std::vector<LinkedWords> words_of(const std::vector<WordTuple>& tuples) {
  std::vector<LinkedWords> words;
  for (const auto& [source_begin, source_end, target_begin, target_end] : tuples)
    words.push_back({source_begin, source_end, target_begin, target_end});
  return words;
}

void add_translation(py::module_& module) {
  py::class_<TranslatedText>(module, "Translation", "A translation of a text.")
      .def_readonly("text", &TranslatedText::text, "The translation.")
      .def_readonly("log_prob", &TranslatedText::log_prob, "Sum of the log-probabilities of all tokens, base e.")
      .def_readonly("score", &TranslatedText::score,
                    "Orders the translations of a line: ``log_prob``, normalised as the options say.")
      .def_readonly("token_log_probs", &TranslatedText::token_log_probs,
                    "Of each token, ends of sentences included, base e.")
      .def_readonly("pieces", &TranslatedText::pieces, "The same tokens as text, such as ``▁house`` and ``</s>``.")
      .def_property_readonly(
          "words", [](const TranslatedText& t) { return tuples_of(t.words); },
          "Linked words, if ``alignment`` was requested: tuples (begin, end) of the line and (begin, end) of ``text``, "
          "such as (0, 5, 4, 9).")
      .def("__repr__", repr_of_translation)
      .def("__str__", [](const TranslatedText& t) { return t.text; })
      .def(py::pickle(
          [](const TranslatedText& t) {
            return py::make_tuple(t.text, t.log_prob, t.score, t.token_log_probs, t.pieces, tuples_of(t.words));
          },
          [](const py::tuple& state) {
            return TranslatedText{state[0].cast<std::string>(),
                                  state[1].cast<double>(),
                                  state[2].cast<double>(),
                                  state[3].cast<std::vector<float>>(),
                                  state[4].cast<std::vector<std::string>>(),
                                  words_of(state[5].cast<std::vector<WordTuple>>())};
          }));
}

}  // namespace

void add_translator(py::module_& module) {
  using namespace py::literals;
  add_search_options(module);
  module.def("require_effective", require_effective_names, "options"_a, "given"_a);
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
             const PythonForbiddenPhrases* avoid, bool alignment, uint64_t first_line) {
            const TranslationRequest request{.search = search,
                                             .prefix = std::move(prefix),
                                             .glossary = glossary ? glossary->glossary : nullptr,
                                             .avoid = avoid ? avoid->forbidden : nullptr,
                                             .scores = search.n_best > 0,  // are shown
                                             .alignment = alignment,
                                             .line = first_line};
            return translator.submit(std::move(lines), request, partial, news);
          },
          "lines"_a, "prefix"_a, "search"_a, "partial"_a = false, "news"_a = py::none(), "glossary"_a = py::none(),
          "avoid"_a = py::none(), "alignment"_a = false, "first_line"_a = 0)
      .def("close", &PythonTranslator::close)
      .def("close_at_exit", &PythonTranslator::close_at_exit);
}

}  // namespace dragoman::python
