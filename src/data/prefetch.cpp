#include "data/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/grouped.h"
#include "base/log.h"
#include "base/new_thread.h"

namespace dragoman {

BatchStream::BatchStream(std::shared_ptr<const Corpus> corpus, const DataOptions& options, uint64_t seed,
                         Position start)
    : options_(options), seed_(seed), position_(start) {
  const auto work = with_log([this, corpus, start](std::stop_token stop) {
    try {
      produce(stop, corpus, start);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  });
  thread_ = new_thread([&] { return std::jthread(work); });
}

BatchStream::Wait BatchStream::wait_for(int64_t batches) {
  constexpr auto longest = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  if (wanted_ < size_t(batches)) {
    wanted_ = size_t(batches);
    changed_.notify_all();
  }
  const auto known = [&] { return ready_.size() >= size_t(batches) || failure_ || text_ended_; };
  if (!changed_.wait_for(lock, longest, known)) return Wait::too_long;
  if (ready_.size() < size_t(batches) && failure_) return Wait::failed;
  if (ready_.empty()) return Wait::ended;
  const Ready& first = ready_.front();
  const int64_t epoch = first.position.epoch - (first.epoch_ended ? 1 : 0);
  if (epoch > position_.epoch) position_ = {epoch, 0};
  text_ = ready_[std::min(ready_.size(), size_t(batches)) - 1].text;
  return Wait::over;
}

std::exception_ptr BatchStream::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool BatchStream::ended() {
  const std::lock_guard lock(mutex_);
  return ready_.empty() && text_ended_;
}

Batch BatchStream::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || failure_ || text_ended_; });
  if (ready_.empty()) {
    invariant(failure_ != nullptr, "the text has ended: no batch is left");
    std::rethrow_exception(failure_);
  }
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  position_ = ready.position;
  epoch_ended_ = ready.epoch_ended;
  return std::move(ready.batch);
}

void BatchStream::produce(std::stop_token stop, std::shared_ptr<const Corpus> corpus, Position start) {
  Fingerprint text;
  auto coming = prepare(stop, corpus, start.epoch);
  while (const std::optional<Epoch> epoch = coming.get()) {
    coming = prepare(stop, epoch->corpus, epoch->number + 1);
    text.add(fmt::to_string(epoch->corpus->fingerprint));
    if (!produce_epoch(stop, *epoch, epoch->number == start.epoch ? start.batch : 0, text.value())) return;
  }
  const std::lock_guard lock(mutex_);
  text_ended_ = true;
  changed_.notify_all();
}

// False when stopped.
bool BatchStream::produce_epoch(std::stop_token stop, const Epoch& epoch, int64_t first_batch, uint64_t text) {
  const auto& [number, corpus, plan] = epoch;
  if (first_batch >= plan.size())
    throw Error(fmt::format("the training state is at batch {} of epoch {}, which has only {} batches",
                            grouped(first_batch), number + 1, grouped(plan.size())),
                "the corpus or the batch options have changed; --no-restore-corpus restarts the epoch");
  for (int64_t b = first_batch; b < plan.size(); ++b) {
    const bool last = b + 1 == plan.size();
    const Position after = last ? Position{number + 1, 0} : Position{number, b + 1};
    if (!push(stop, {assemble(*corpus, plan[b]), after, last, text})) return false;
  }
  return true;
}

// The epoch or, if it is a part of a stream of which no pair could be used, the next one.
BatchStream::Coming BatchStream::prepare(std::stop_token stop, std::shared_ptr<const Corpus> corpus,
                                         int64_t epoch) const {
  const auto work = with_log([this, stop, corpus, epoch]() -> std::optional<Epoch> {
    for (int64_t number = epoch; const auto encoded = for_epoch(corpus, number, stop); ++number)
      if (BatchPlan plan = plan_batches(*encoded, options_, seed_, number); plan.size() > 0)
        return Epoch{number, encoded, std::move(plan)};
    return {};
  });
  return new_thread([&] { return std::async(std::launch::async, work); });
}

// Waits until there is room for another batch. False if stopped.
bool BatchStream::push(std::stop_token stop, Ready ready) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return ready_.size() < wanted_; })) return false;
  ready_.push_back(std::move(ready));
  changed_.notify_all();
  return true;
}

}  // namespace dragoman
