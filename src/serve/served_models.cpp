#include "serve/served_models.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "backend/backend.h"
#include "base/error.h"
#include "base/file_error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/new_thread.h"
#include "base/words.h"
#include "serve/translation_worker.h"

namespace dragoman {
namespace {

bool is_language(std::string_view word) {
  const auto may_be = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const auto follows = [&](char c) { return may_be(c) || c == '-' || c == '_' || is_digit(c); };
  return word.size() >= 2 && word.size() <= 20 && may_be(word[0]) && std::ranges::all_of(word, follows);
}

// A file without languages may have an equals sign in its name, and so may its folder.
void require_languages_or_file(const std::string& spec) {
  const std::string before = spec.substr(0, spec.find('='));
  if (before == spec || before.find('/') != std::string::npos || std::filesystem::exists(spec)) return;
  throw Error(fmt::format("--model {}: '{}' is not two languages, and there is no file {}", spec, before, spec),
              "--model SOURCE-TARGET=FILE, such as en-fr=FILE, or FILE alone");
}

std::vector<std::string> files_of(const std::vector<ModelSpec>& specs) {
  std::vector<std::string> files;
  for (const ModelSpec& spec : specs)
    if (std::ranges::find(files, spec.file) == files.end()) files.push_back(spec.file);
  return files;
}

// The pair chooses the languages, where the model lets it.
void require_known(const ModelSpec& spec, const JobLanguages& languages) {
  if (spec.source.empty()) return;
  const auto require = [&](bool known, const std::string& language, const char* side,
                           const std::vector<std::string>& listed) {
    if (known) return;
    throw Error(
        fmt::format("--model {}:{}={}: the model has no piece that names the {} language {}, only {}", spec.source,
                    spec.target, spec.file, side, language, fmt::join(listed, ", ")),
        fmt::format("name the pair by these, or store the language in the model: dragoman convert -i {} -o FILE "
                    "--{}-lang LANG",
                    spec.file, side));
  };
  require(languages.know_source(spec.source), spec.source, "source", languages.choice().sources);
  require(languages.know_target(spec.target), spec.target, "target", languages.choice().targets);
}

// A model may translate from several languages that it is not told, but into one language alone.
void warn_of_targets(const std::vector<ModelSpec>& specs, const std::string& file, const LanguageChoice& choice) {
  std::set<std::string> targets;
  for (const ModelSpec& spec : specs)
    if (spec.file == file) targets.insert(spec.target);
  if (targets.size() > 1 && choice.targets.empty())
    log_warning(
        "--model names {} for the target languages {}, but the model lets nobody choose: it translates into the same "
        "language for all",
        file, fmt::join(targets, ", "));
}

void log_failure(const std::string& error) { log_warning("Reloading failed, the old models stay in use: {}", error); }

}  // namespace

ModelSpec parse_model_spec(const std::string& spec) {
  const size_t equals = spec.find('=');
  if (equals == std::string::npos) return {"", "", spec};
  const std::string pair = spec.substr(0, equals);
  const size_t colon = pair.find(':'), between = colon == std::string::npos ? pair.find('-') : colon;
  if (between == std::string::npos) return {"", "", spec};
  const ModelSpec found{pair.substr(0, between), pair.substr(between + 1), spec.substr(equals + 1)};
  if (!is_language(found.source) || !is_language(found.target)) return {"", "", spec};
  if (colon == std::string::npos && found.target.find('-') != std::string::npos)
    throw Error(fmt::format("--model {}: the language pair is ambiguous", spec),
                "separate the languages with a colon: pt-BR:en=FILE");
  return found;
}

std::vector<ModelSpec> model_specs(const ServeOptions& options) {
  std::vector<ModelSpec> specs;
  for (const std::string& model : options.models) {
    const ModelSpec& spec = specs.emplace_back(parse_model_spec(model));
    require(!spec.file.empty(), "--model {} names no file", model);
    if (spec.source.empty()) require_languages_or_file(model);
    const auto same = [&](const ModelSpec& s) { return s.source == spec.source && s.target == spec.target; };
    require(std::ranges::count_if(specs, same) == 1 || spec.source.empty(), "--model names two models from {} to {}",
            spec.source, spec.target);
  }
  if (specs.size() > 1 && std::ranges::any_of(specs, &std::string::empty, &ModelSpec::source))
    throw Error("--model names several models, but not all with a language pair", "--model en-fr=FILE en-de=FILE");
  return specs;
}

ServedModels::ServedModels(Engine& engine, const ServeOptions& options, Metrics& metrics, Post post)
    : engine_(engine),
      options_(options),
      metrics_(metrics),
      post_(std::move(post)),
      specs_(model_specs(options)),
      files_(files_of(specs_)) {
  if (engine.backend().is_device() && options_.search_memory.bytes > 0)
    log_warning("--search-memory has no effect on a GPU, where all searches share its free memory");
  workers_ = load();
}

ServedModels::~ServedModels() {
  take_waiting();
  if (reloader_.joinable()) reloader_.join();
}

std::vector<std::shared_ptr<TranslationWorker>> ServedModels::load() const {
  std::vector<std::shared_ptr<TranslationWorker>> workers;
  for (const std::string& file : files_) {
    workers.push_back(load(file));
    const JobLanguages& languages = workers.back()->languages();
    for (const ModelSpec& spec : specs_)
      if (spec.file == file) require_known(spec, languages);
    warn_of_targets(specs_, file, languages.choice());
  }
  return workers;
}

std::shared_ptr<TranslationWorker> ServedModels::load(const std::string& file) const {
  EnsembleOptions model = options_;
  model.models = {file};
  model.requests_name_languages = true;
  return std::make_shared<TranslationWorker>(
      engine_, model,
      TranslateOptions{.mini_batch_words = options_.mini_batch_words,
                       .search_memory = options_.search_memory.bytes ? options_.search_memory.bytes : machine_memory(),
                       .max_length = options_.max_length},
      metrics_, post_);
}

const std::shared_ptr<TranslationWorker>& ServedModels::worker(size_t model) const {
  return workers_[size_t(std::ranges::find(files_, specs_[model].file) - files_.begin())];
}

bool ServedModels::aligns(size_t model) const {
  const std::lock_guard lock(mutex_);
  return worker(model)->aligns();
}

LanguageChoice ServedModels::languages(size_t model) const {
  const std::lock_guard lock(mutex_);
  return worker(model)->languages().choice();
}

void ServedModels::Submitted::cancel() const {
  if (const auto living = worker.lock()) living->cancel(ticket);
}

// Holds the lock, so that a worker gets no job after it was replaced.
ServedModels::Submitted ServedModels::submit(size_t model, TranslationJob job) {
  const std::lock_guard lock(mutex_);
  return {worker(model), worker(model)->submit(std::move(job))};
}

ServedModels::Submitted ServedModels::submit(size_t model, ScoringJob job) {
  const std::lock_guard lock(mutex_);
  return {worker(model), worker(model)->submit(std::move(job))};
}

void ServedModels::reload(Done done) {
  bool waits;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(done));
    waits = std::exchange(reloading_, true);
  }
  if (waits) {
    log_info("Models will be reloaded again after this reload, when the old ones have answered their requests");
    return;
  }
  if (reloader_.joinable()) reloader_.join();
  try {
    reloader_ = new_thread([&] {
      return std::thread([this] {
        const Engine::Scope scope(engine_);
        for (auto waiting = take_waiting(); !waiting.empty(); waiting = take_waiting()) load_again(waiting);
      });
    });
  } catch (const TooManyThreads& error) {  // the next request may find one
    log_failure(error.what());
    for (auto waiting = take_waiting(); !waiting.empty(); waiting = take_waiting())
      for (const Done& failed : waiting) failed(error.what());
  }
}

// If nothing waits, reloading has ended.
std::vector<ServedModels::Done> ServedModels::take_waiting() {
  const std::lock_guard lock(mutex_);
  reloading_ = !waiting_.empty();
  return std::exchange(waiting_, {});
}

void ServedModels::load_again(const std::vector<Done>& waiting) {
  std::vector<std::shared_ptr<TranslationWorker>> workers;
  std::string error;
  try {
    workers = load();
  } catch (const std::filesystem::filesystem_error& e) {
    error = error_of(e).what();
    workers.clear();
  } catch (const std::exception& e) {
    error = e.what();
    workers.clear();
  }
  {
    const std::lock_guard lock(mutex_);
    if (error.empty()) workers.swap(workers_);
  }
  error.empty() ? log_info("All models are reloaded") : log_failure(error);
  for (const Done& done : waiting) done(error);
  for (const auto& old : workers) old->finish();
}

}  // namespace dragoman
