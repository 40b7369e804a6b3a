#include "train/updater.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "comm/agreement.h"
#include "model/frame.h"
#include "train/not_finite.h"
#include "train/shards.h"

namespace dragoman {

Updater::Updater(const TrainingSetup& setup, const Backend& backend, Arena& arena, Model& model, int64_t rows,
                 Progress& progress, RunLog& log, Communicator& ranks)
    : setup_(setup),
      backend_(backend),
      arena_(arena),
      model_(model),
      ownership_(ranks, setup.training.gradient_shards, model.parameters().flat_elements(), Parameters::flat_block),
      adam_(backend, arena, model.parameters(), setup.optimizer, ownership_),
      learner_(backend, arena, model, setup, rows),
      statistics_(model.parameters()),
      progress_(progress),
      log_(log) {
  if (setup.optimizer.exponential_smoothing > 0)
    average_.emplace(backend, arena, model.parameters(), setup.optimizer.exponential_smoothing, setup.optimizer.freeze,
                     ownership_);
  if (ownership_.slices() == 1) return;
  tree_.emplace(backend, arena, ownership_, model.parameters().flat_gradients());
  if (statistics_.exist()) learner_.statistics = &statistics_;
}

double Updater::rate() const {
  return learning_rate(setup_.optimizer, progress_.updates, setup_.model.dim) * progress_.rate_factor();
}

bool Updater::diverged() const {
  const int64_t limit = setup_.training.max_skipped;
  return limit > 0 && progress_.skipped_in_a_row >= limit;
}

// Gradients are divided by the number of target tokens and their mean weight in the text: then the scale of all
// weights does not matter, but an update of little weight makes a small step.
// The GPU computes the next gradients while the host waits for the outcome of the previous update.
void Updater::update(BatchStream& batches) {
  std::vector<Batch> of_update;
  Unfinished update;
  double expected_weight = 0;
  int64_t sentences = 0, epoch_sentences = progress_.epoch_sentences;
  std::optional<Progress::EndedEpoch> ended_epoch;
  for (int64_t i = 0; i < setup_.optimizer.optimizer_delay && (i == 0 || !batches.ended()); ++i) {
    const int64_t epoch_batches = batches.position().batch + 1;
    const Batch& batch = of_update.emplace_back(batches.next());
    update.target_tokens += int64_t(batch.target.ids.size());
    update.weight += batch.target_weight();
    expected_weight += expected_weight_of(batch);
    sentences += int64_t(batch.sentences.size());
    epoch_sentences += int64_t(batch.sentences.size());
    if (setup_.data.stream > 0) count_longest(batch);
    ended_epoch.reset();
    if (batches.epoch_ended()) ended_epoch = {epoch_batches, std::exchange(epoch_sentences, 0)};
  }
  learn(of_update);
  if (unfinished_) unfinished_->has_gradients = false;
  finish();
  progress_.position = batches.position();
  progress_.target_tokens += update.target_tokens;
  progress_.sentences += sentences;
  progress_.epoch_sentences = epoch_sentences;
  progress_.ended_epoch = ended_epoch;
  ++progress_.updates;
  adam_.step(rate(), expected_weight * progress_.loss_scale.value, learner_.loss());
  unfinished_ = update;
  if (!may_run_ahead()) finish();
}

// In pieces, without the special ones around them.
void Updater::count_longest(const Batch& batch) {
  const SentenceFrames frames = frames_of(setup_.model);
  const auto pieces = [](const PackedIds& side, const SentenceFrame& frame) {
    return side.spans.longest() - int(frame.size());
  };
  TrainedLengths& longest = progress_.longest;
  longest = {std::max(longest.source, pieces(batch.source, frames.source)),
             std::max(longest.target, pieces(batch.target, frames.target))};
}

// The weights of all parts of a stream are relative to the mean of the first part: what follows is unknown then.
double Updater::expected_weight_of(const Batch& batch) {
  if (setup_.data.stream == 0 || batch.weights.empty()) return batch.expected_weight();
  double& mean = progress_.stream_weight;
  if (mean == 0 && batch.target_weight() > 0) mean = batch.mean_weight;
  return double(batch.target.ids.size()) * (mean > 0 ? mean : batch.mean_weight);
}

// The planned size fitted into memory, but other processes may have allocated GPU memory since. Then the update is
// restarted with micro-batches of half the size, which later updates use too.
void Updater::learn(std::span<const Batch> of_update) {
  learner_.begin_update(progress_.loss_scale.value);
  while (true) {
    try {
      if (tree_) return learn_shards(of_update);
      for (const Batch& batch : of_update) learner_.learn(batch, progress_.updates);
      return;
    } catch (const OutOfMemory& error) {
      if (learner_.rows() < 2) throw;
      learner_.restart_update(learner_.rows() / 2);
      log_warning("update {}: {}; from now on, micro-batches have at most {} tokens on a side",
                  grouped(progress_.updates + 1), error.what(), grouped(learner_.rows()));
    }
  }
}

void Updater::learn_shards(std::span<const Batch> of_update) {
  const auto shards = shards_of(of_update, ownership_.slices());
  std::vector<bool> has_sentences;
  for (const auto& shard : shards) has_sentences.push_back(!shard.empty());
  std::vector<double> losses(shards.size());
  std::vector<Learner::LossOfLinks> links(shards.size());
  if (statistics_.exist()) statistics_.begin_update();
  tree_->sum(has_sentences, [&](int s, const Tensor& gradients) {
    model_.parameters().write_gradients_to(gradients);
    learner_.begin_shard();
    for (const BatchPart& part : shards[size_t(s)])
      learner_.learn(sentences_of(of_update[part.batch], part.sentences), progress_.updates);
    losses[size_t(s)] = learner_.end_shard();
    links[size_t(s)] = learner_.take_loss_of_links();
  });
  model_.parameters().write_gradients_to(model_.parameters().flat_gradients());
  model_.parameters().all_gradients_written();
  if (statistics_.exist()) statistics_.apply(ownership_.ranks());
  ownership_.share(losses);
  learner_.set_loss(std::accumulate(losses.begin(), losses.end(), 0.0));
  if (!setup_.data.guided_alignment.empty()) share_loss_of_links(links);
}

void Updater::share_loss_of_links(const std::vector<Learner::LossOfLinks>& of_shards) {
  for (double Learner::LossOfLinks::*part : {&Learner::LossOfLinks::sum, &Learner::LossOfLinks::weight}) {
    std::vector<double> numbers;
    for (const auto& of_shard : of_shards) numbers.push_back(of_shard.*part);
    ownership_.share(numbers);
    links_.*part = std::accumulate(numbers.begin(), numbers.end(), links_.*part);
  }
}

std::optional<double> Updater::take_loss_of_links() {
  const auto [sum, weight] = learner_.take_loss_of_links();
  const auto [of_shards, weight_of_shards] = std::exchange(links_, {});
  if (weight + weight_of_shards == 0) return {};
  return (sum + of_shards) / (weight + weight_of_shards);
}

// Whether the next update may begin before the outcome of this one is known. It may not if the outcome affects how it
// begins, or if the gradients are needed to find the first non-finite one.
bool Updater::may_run_ahead() const {
  const TrainingOptions& o = setup_.training;
  const bool begins_alike = o.precision != TrainingPrecision::float16 && !model_.learns_from_baseline() &&
                            !(average_ && setup_.model.norm_kind == NormKind::batch);
  return backend_.is_device() && begins_alike && !o.check_nan && o.max_skipped != 1 && progress_.skipped_in_a_row == 0;
}

void Updater::finish() {
  if (!unfinished_) return;
  const Unfinished update = *std::exchange(unfinished_, std::nullopt);
  Adam::Outcome outcome = adam_.outcome();
  outcome.loss /= progress_.loss_scale.value;
  if (!outcome.finite()) return skip(update, outcome);
  window_.norm = outcome.norm;
  if (setup_.training.precision == TrainingPrecision::float16) progress_.loss_scale.went_well();
  progress_.skipped_in_a_row = 0;
  model_.baseline().update(outcome.loss, update.weight > 0 ? update.weight : 1);
  if (average_) average_->update(progress_.updates - progress_.skipped);
  window_.cost += outcome.loss;
  window_.target_tokens += update.target_tokens;
  window_.weight += update.weight;
}

void Updater::skip(const Unfinished& update, const Adam::Outcome& outcome) {
  ++progress_.skipped;
  if (scales_less(outcome))
    return log_info("update {} skipped: its gradient is too large for float16; the loss scale is now {}",
                    grouped(progress_.updates), progress_.loss_scale.value);
  first_nonfinite_ = find_first_nonfinite(update, outcome);
  ++progress_.skipped_in_a_row;
  log_.announce(progress_.moment(), RunSkip{progress_.skipped_in_a_row, progress_.skipped, first_nonfinite_});
}

// Whether only float16 overflowed and a lower loss scale may help. That is no sign of divergence.
bool Updater::scales_less(const Adam::Outcome& outcome) {
  return setup_.training.precision == TrainingPrecision::float16 && std::isfinite(outcome.loss) &&
         progress_.loss_scale.lower();
}

// The first non-finite tensor on any rank; empty if it was a gradient that is already overwritten.
std::string Updater::find_first_nonfinite(const Unfinished& update, const Adam::Outcome& outcome) {
  std::string found = first_text(ownership_.ranks(), learner_.first_nonfinite);
  if (!found.empty()) return found;
  found = first_bad_weight(backend_, arena_, model_.parameters());
  if (found.empty() && !std::isfinite(outcome.loss)) found = "loss";
  if (found.empty() && update.has_gradients) found = first_bad_gradient(backend_, arena_, model_.parameters());
  return first_text(ownership_.ranks(), found);
}

}  // namespace dragoman
