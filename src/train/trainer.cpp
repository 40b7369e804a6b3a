#include "train/trainer.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/grouped.h"
#include "base/log.h"
#include "data/prefetch.h"
#include "train/signals.h"

namespace dragoman {
namespace {

// What cannot be written is better found now than at the first checkpoint.
TrainingSetup with_writable_model(TrainingSetup setup) {
  const std::string& model = setup.training.model;
  const std::string parent = std::filesystem::path(model).parent_path().string(),
                    folder = parent.empty() ? "." : parent;
  if (!std::filesystem::is_directory(folder))
    throw Error(fmt::format("--model {}: there is no folder {}", model, folder), fmt::format("mkdir -p {}", folder));
  require(!std::filesystem::is_directory(model), "--model {} is a folder, expected the name of a file", model);
  require(access(folder.c_str(), W_OK) == 0, "--model {}: the folder {} cannot be written to", model, folder);
  return setup;
}

std::shared_ptr<const Corpus> read_training_text(const TrainingSetup& setup, const Vocabularies& vocabularies) {
  auto corpus = read_corpus(training_files(setup.data, vocabularies.source, vocabularies.target, setup.training.seed));
  spdlog::info("{}", corpus->report.summary());
  return corpus;
}

ModelConfig with_vocabularies(ModelConfig config, const Vocabularies& vocabularies) {
  config.source_vocabulary = vocabularies.source.size();
  config.target_vocabulary = vocabularies.target.size();
  return config;
}

std::unique_ptr<Model> make_checked_model(TrainingSetup& setup, const Backend& backend, Arena& arena,
                                          const Vocabularies& vocabularies, const Corpus& corpus) {
  setup.model = with_vocabularies(setup.model, vocabularies);
  const MemoryPlan plan = plan_memory(setup, corpus, plan_batches(corpus, setup.data, setup.training.seed, 0));
  spdlog::info("Memory: {} MiB for weights, gradients and optimiser, {} MiB with the largest batch",
               plan.parameters >> 20, plan.peak >> 20);
  require_memory(plan, setup.data);
  return make_model(setup.model, backend, arena, DType::f32, true);
}

// A model knows numbers of pieces only: in another vocabulary they mean something else.
void require_its_vocabularies(const std::string& model, const Vocabularies& vocabularies,
                              const std::vector<std::string>& paths) {
  const Vocabularies stored = ModelFile(model).vocabularies();
  const bool same_source = stored.source.bytes() == vocabularies.source.bytes();
  if (same_source && stored.target.bytes() == vocabularies.target.bytes()) return;
  throw Error(fmt::format("{} was trained with another vocabulary than {}", model, paths[same_source ? 1 : 0]),
              "give --vocabs the one it was trained with, another --model, or --no-reload to begin anew");
}

}  // namespace

Trainer::Trainer(TrainingSetup setup, const Backend& backend)
    : setup_(with_writable_model(std::move(setup))),
      backend_(backend),
      vocabularies_(open_vocabularies(setup_)),
      corpus_(read_training_text(setup_, vocabularies_)),
      order_(batch_order(*corpus_, setup_)),
      model_(make_checked_model(setup_, backend_, arena_, vocabularies_, *corpus_)),
      adam_(backend_, arena_, model_->parameters(), setup_.optimizer),
      validation_(setup_, vocabularies_),
      bar_(setup_.training.quiet) {
  model_->parameters().initialise(setup_.training.seed);
  if (setup_.optimizer.exponential_smoothing > 0)
    average_.emplace(backend_, arena_, model_->parameters(), setup_.optimizer.exponential_smoothing);
  begin_or_go_on();
}

void Trainer::begin_or_go_on() {
  const std::string& model = setup_.training.model;
  spdlog::info("Model: {} parameters, {} + {} layers of {} columns", grouped(model_->parameters().count()),
               setup_.model.encoder_layers, setup_.model.decoder_layers, setup_.model.dim);
  if (setup_.training.no_reload || !std::filesystem::exists(model)) return;
  const std::string state = state_path(model);
  if (!std::filesystem::exists(state))
    throw Error(fmt::format("{} exists, but not its training state {}", model, state),
                "choose another --model, or --no-reload to begin anew and write over it");
  require_its_vocabularies(model, vocabularies_, setup_.data.vocabs);
  load_state(state, {model_->parameters(), adam_, average_, progress_}, setup_.model, order_);
  spdlog::info("Going on from {}: update {}, epoch {}", state, grouped(progress_.updates), progress_.epoch());
}

// Forward and back; gradients gather in the parameters.
double Trainer::learn(const Batch& batch) {
  Tape tape;
  Context cx{.backend = backend_, .arena = arena_, .tape = &tape};
  cx.seed = setup_.training.seed;
  cx.update = uint32_t(progress_.updates);
  cx.training = true;
  const LabelLoss loss = model_->loss(cx, batch, setup_.optimizer.label_smoothing);
  tape.backward(backend_, arena_);
  return backend_.sum(loss.loss);
}

void Trainer::run() {
  const TrainingOptions& o = setup_.training;
  const Stopping stopping(o.after, corpus_->size(), progress_);
  const StopSignals signals;
  if (corpus_->files.sampled() && corpus_->epoch != progress_.position.epoch)
    corpus_ = read_corpus(corpus_->files, progress_.position.epoch);
  BatchStream batches(corpus_, setup_.data, o.seed, progress_.position);
  Recurring display(o.disp_freq, progress_), validation(o.valid_freq, progress_), saving(o.save_freq, progress_);
  Window window;
  while (!stopping.reached(progress_) && !StopSignals::asked() && !stalled()) {
    window.norm = update(batches, window);
    if (display.due(progress_)) {
      report(report_line(progress_, window, rate(), stopping.remaining(progress_)));
      window = {};
    }
    bar_.draw(progress_, window, stopping.share(progress_), stopping.remaining(progress_));
    const Clock pause;
    if (validation.due(progress_)) validate();
    if (saving.due(progress_)) save();
    window.clock.leave_out(pause);  // words/s is of training alone
  }
  bar_.clear();
  if (saved_ != progress_.updates) save();
  spdlog::info("{} after {} updates, {} epochs", ending(), grouped(progress_.updates), progress_.position.epoch);
}

std::string Trainer::ending() const {
  if (StopSignals::asked()) return "Stopped by a signal";
  if (stalled()) return fmt::format("Training finished: {} validations without improvement,", progress_.stalled);
  return "Training finished";
}

double Trainer::rate() const { return learning_rate(setup_.optimizer, progress_.updates, setup_.model.dim); }

// One update: --optimizer-delay batches forward and back, then Adam.
double Trainer::update(BatchStream& batches, Window& window) {
  int64_t labels = 0;
  double cost = 0;
  model_->parameters().forget_gradients();
  for (int64_t i = 0; i < setup_.optimizer.optimizer_delay; ++i) {
    const Batch batch = batches.next();
    cost += learn(batch);
    labels += int64_t(batch.target.ids.size());
    progress_.sentences += int64_t(batch.sentences.size());
    progress_.epoch_sentences += int64_t(batch.sentences.size());
    if (batches.epoch_ended()) progress_.epoch_sentences = 0;
  }
  progress_.position = batches.position();
  progress_.labels += labels;
  ++progress_.updates;
  const double norm = adam_.step(rate(), double(labels));
  if (!std::isfinite(norm)) {
    ++progress_.skipped;
    report(fmt::format("update {} skipped: its gradient is not finite ({} skipped so far)", progress_.updates,
                       progress_.skipped));
    return norm;
  }
  if (average_) average_->update(adam_.steps);
  window.cost += cost;
  window.labels += labels;
  return norm;
}

void Trainer::report(const std::string& line) {
  bar_.clear();
  spdlog::info("{}", line);
}

bool Trainer::stalled() const {
  const int64_t patience = setup_.training.early_stopping;
  return patience > 0 && progress_.stalled >= patience;
}

void Trainer::validate() {
  if (!validation_.exists()) return;
  if (average_) average_->swap();
  const std::vector<double> values = validation_.measure(backend_, arena_, *model_);
  for (size_t m = 0; m < values.size(); ++m) note(m, values[m]);
  if (average_) average_->swap();
}

// Whether the value is the best of its metric so far; if so, it is kept. What is not finite never is.
bool Trainer::is_best(ValidMetric metric, double value) {
  if (!std::isfinite(value)) return false;
  const auto [best, first] = progress_.best.try_emplace(std::string(name_of(metric)), value);
  if (!first && !(rises(metric) ? value > best->second : value < best->second)) return false;
  best->second = value;
  return true;
}

// Reports one metric and keeps the model if it is the best so far. The weights are the smoothed ones here.
void Trainer::note(size_t m, double value) {
  const ValidMetric metric = setup_.training.valid_metrics[m];
  const bool better = is_best(metric, value);
  if (m == 0) progress_.stalled = better ? 0 : progress_.stalled + 1;
  const auto best = progress_.best.find(std::string(name_of(metric)));
  std::string remark = "new best";
  if (!better) remark = best == progress_.best.end() ? "not finite" : fmt::format("last best: {:.6g}", best->second);
  if (!better && m == 0) remark = fmt::format("stalled {} times ({})", progress_.stalled, remark);
  report(fmt::format("[valid] Ep. {} : Up. {} : {} : {:.6g} : {}", progress_.epoch(), progress_.updates,
                     name_of(metric), value, remark));
  if (better && setup_.training.keep_best)
    save_model(sibling(setup_.training.model, fmt::format("best-{}", name_of(metric))), setup_.model, vocabularies_,
               weights_of(model_->parameters()));
}

// The state first: it alone decides where a run goes on, so a crash between the two files loses nothing.
void Trainer::save() {
  const TrainingOptions& o = setup_.training;
  save_state(state_path(o.model), {model_->parameters(), adam_, average_, progress_}, setup_.model, order_);
  if (average_) average_->swap();
  const auto write = [&](const std::string& path) {
    save_model(path, setup_.model, vocabularies_, weights_of(model_->parameters()));
  };
  write(o.model);
  if (o.keep_last > 0) save_numbered(o.model, progress_.updates, o.keep_last, write);
  if (average_) average_->swap();
  saved_ = progress_.updates;
  report(fmt::format("Saved {} (update {})", o.model, grouped(progress_.updates)));
}

}  // namespace dragoman
