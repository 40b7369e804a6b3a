#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "data/batches.h"
#include "data/corpus.h"

namespace dragoman {

/// The position of training: `epoch` whole epochs and `batch` batches of the next one. Together with corpus, options
/// and seed, it determines the next batch.
struct Position {
  int64_t epoch = 0, batch = 0;
  bool operator==(const Position&) const = default;
};

/// The batches of a corpus from a position on, in an endless sequence of epochs. A thread keeps a few batches ready;
/// during an epoch it plans the next one and, if pieces are sampled, encodes it. The batches depend on the arguments
/// alone: a stream that starts at a position continues exactly like one that has reached it.
class BatchStream {
 public:
  BatchStream(std::shared_ptr<const Corpus> corpus, const DataOptions& options, uint64_t seed, Position start = {});

  /// Waits until a batch is ready. If the thread has failed, this and every later call throw its exception.
  Batch next();

  Position position() const { return position_; }    // after the last batch
  bool epoch_ended() const { return epoch_ended_; }  // whether the last batch ended its epoch
  bool failed() const { return failed_; }            // whether next() has thrown

 private:
  struct Epoch {
    std::shared_ptr<const Corpus> corpus;
    BatchPlan plan;
  };
  struct Ready {
    Batch batch;
    Position position;  // after it
    bool epoch_ended = false;
  };

  void produce(std::stop_token stop, std::shared_ptr<const Corpus> corpus, Position start);
  bool produce_epoch(std::stop_token stop, const Epoch& epoch, Position start);
  std::future<Epoch> prepare(std::stop_token stop, std::shared_ptr<const Corpus> corpus, int64_t epoch) const;
  bool push(std::stop_token stop, Ready ready);

  const DataOptions options_;
  const uint64_t seed_;
  Position position_;
  bool epoch_ended_ = false, failed_ = false;

  std::mutex mutex_;  // guards the next three
  std::condition_variable_any changed_;
  std::deque<Ready> ready_;
  std::exception_ptr failure_;

  std::jthread thread_;  // last: it is stopped and joined before anything it uses goes
};

}  // namespace dragoman
