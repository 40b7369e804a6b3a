#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
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

/// The batches of a corpus from a position on, in an endless sequence of epochs, or up to the end of a text stream. A
/// thread keeps a few batches ready; during an epoch it plans the next one and, if pieces are sampled or the text is a
/// stream, encodes it. The batches depend on the arguments alone: batches from a position on are exactly like those
/// after reaching it.
class BatchStream {
 public:
  BatchStream(std::shared_ptr<const Corpus> corpus, const DataOptions& options, uint64_t seed, Position start = {});

  /// Ordered, so that ranks agree on the least.
  enum class Wait { failed, too_long, ended, over };
  /// Waits until so many batches are ready, or all that are left of a text stream: `over`, or `ended` if none is left.
  /// `too_long`: not within a tenth of a second. `failed`: they cannot come, for failure(). If the next batch is of a
  /// later epoch than position(), as there are parts of which no pair can be used, the position passes these.
  Wait wait_for(int64_t batches);
  std::exception_ptr failure();

  /// A fingerprint of the text that has the batches up to the last one of the last wait_for(), part by part.
  uint64_t text() const { return text_; }

  /// The next batch, of which there must be one. Waits until it is ready. If the thread has failed, this and every
  /// later call throw its exception.
  Batch next();

  Position position() const { return position_; }    // of the next batch, as far as it is known
  bool epoch_ended() const { return epoch_ended_; }  // whether the last batch ended its epoch
  bool ended();                                      // whether the text was a stream of which no batch is left

 private:
  struct Epoch {
    int64_t number;
    std::shared_ptr<const Corpus> corpus;
    BatchPlan plan;
  };
  struct Ready {
    Batch batch;
    Position position;  // after it
    bool epoch_ended = false;
    uint64_t text = 0;  // fingerprint of the parts up to its own
  };
  using Coming = std::future<std::optional<Epoch>>;  // none after the end of a text stream

  void produce(std::stop_token stop, std::shared_ptr<const Corpus> corpus, Position start);
  bool produce_epoch(std::stop_token stop, const Epoch& epoch, int64_t first_batch, uint64_t text);
  Coming prepare(std::stop_token stop, std::shared_ptr<const Corpus> corpus, int64_t epoch) const;
  bool push(std::stop_token stop, Ready ready);

  const DataOptions options_;
  const uint64_t seed_;
  Position position_;
  bool epoch_ended_ = false;
  uint64_t text_ = 0;

  std::mutex mutex_;  // guards the next five
  std::condition_variable_any changed_;
  std::deque<Ready> ready_;
  size_t wanted_ = 8;        // of them
  bool text_ended_ = false;  // nothing more will be ready
  std::exception_ptr failure_;

  std::jthread thread_;  // last: it is stopped and joined before anything it uses goes
};

}  // namespace dragoman
