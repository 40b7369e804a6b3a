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

/// How far training has come: `epoch` whole epochs and `batch` batches of the next. With the corpus, the options and
/// the seed it says which batch is due.
struct Position {
  int64_t epoch = 0, batch = 0;
  bool operator==(const Position&) const = default;
};

/// The batches of a corpus from a position on, epoch after epoch without end. A thread keeps a few ready; it also
/// plans the next epoch (and, when pieces are sampled, encodes it) while the present one is trained on.
/// The batches are a function of the arguments: a stream that begins at a position gives what one gives that came
/// there.
class BatchStream {
 public:
  BatchStream(std::shared_ptr<const Corpus> corpus, const DataOptions& options, uint64_t seed, Position start = {});

  /// Waits if none is ready. Throws, from then on always, what the thread failed of.
  Batch next();

  Position position() const { return position_; }    // where training stands once the last batch is learnt
  bool epoch_ended() const { return epoch_ended_; }  // the last batch was its epoch's last

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
  bool epoch_ended_ = false;

  std::mutex mutex_;  // guards the next three
  std::condition_variable_any changed_;
  std::deque<Ready> ready_;
  std::exception_ptr failure_;

  std::jthread thread_;  // last: it is stopped and joined before anything it uses goes
};

}  // namespace dragoman
