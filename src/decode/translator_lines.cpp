#include <chrono>
#include <future>
#include <optional>

#include "backend/backend.h"
#include "base/new_thread.h"
#include "base/task_thread.h"
#include "decode/text_input.h"
#include "decode/translation_writer.h"
#include "decode/translator.h"

// How lines reach a translator's searches, and translations the output.
namespace dragoman {
namespace {

Wanted wanted(const TranslateOptions& options, const SearchOptions& search) {
  const bool shown = options.scores || options.word_scores || search.n_best > 0;
  return shown ? Wanted::log_probs : Wanted::pieces;
}

bool is_ready(const auto& future) { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

}  // namespace

/// The lines of a run that are not in a search: those being encoded and those being decoded. While a device computes
/// steps, another thread encodes and decodes, as otherwise the device would have to wait for it.
class Translator::Lines {
 public:
  Lines(Translator& translator, const Flow& flow) : t_(translator), flow_(flow) {
    if (t_.first_.cx->backend.is_device()) start_thread();
  }

  bool any() const { return !t_.texts_.empty() || encoding_.valid() || decoding_.valid(); }
  /// Reads lines while the searches want more. Blocks only when there is nothing else to do.
  void read();
  /// Writes translations that are finished, all of them if the searches have ended.
  void write();
  void write_all() {
    while (write_some(true)) continue;
  }

 private:
  using Chunks = std::vector<Chunk>;
  struct Finished {
    std::vector<Text> texts;
    std::vector<std::vector<Translation>> translations = {};  // of each text
  };

  void start_thread();
  bool computing() const { return beside_ && t_.searches_.active() > 0; }
  int64_t held() const { return std::ssize(t_.texts_) + being_decoded_; }
  Chunks next_chunks() const;
  void encode(Chunks& chunks) const;
  void take(Chunks chunks);
  Finished next_finished();
  void decode(Finished& finished) const;
  bool write_some(bool all);
  void put(Finished finished);

  Translator& t_;
  const Flow& flow_;
  std::future<Chunks> encoding_;
  std::future<Finished> decoding_;
  int64_t being_decoded_ = 0;         // lines
  std::optional<TaskThread> beside_;  // last: its tasks use the others; none: there is no device, or no more threads
};

// Not needed: this thread can do all of it.
void Translator::Lines::start_thread() {
  try {
    beside_.emplace();
  } catch (const TooManyThreads&) {
    beside_.reset();
  }
}

std::vector<std::string> Translator::translate(std::span<const std::string> lines) {
  std::vector<std::string> texts;
  auto next = lines.begin();
  run({.ready = [] { return true; },
       .next = [&](std::string& line, bool&) { return next != lines.end() && (line = *next++, true); },
       .write = [&](const auto& best, bool) { texts.push_back(best[0].text); },
       .flush = [] {}});
  return texts;
}

int64_t Translator::translate(LineReader& in, LineWriter& out, const std::function<void(int64_t)>& written) {
  TextInput input(in, options_);
  TranslationWriter writer(out, options_, *search_options_);
  run({.ready = [&] { return input.ready(); },
       .next = [&](std::string& text, bool& more) { return input.next(text, more); },
       .write = [&](auto best, bool more) { writer.write(std::move(best), more); },
       .flush =
           [&] {
             out.flush();
             if (written) written(writer.lines());
           }});
  return writer.lines();
}

void Translator::run(const Flow& flow) {
  line_ = flow.first_line;
  segment_ = 0;
  last_beyond_training_ = last_lacking_ = std::nullopt;
  Lines lines(*this, flow);
  const auto losing_nothing = [&](const auto& f) {
    try {
      f();
    } catch (...) {
      lines.write_all();
      throw;
    }
  };
  losing_nothing([&] { lines.read(); });
  while (lines.any()) {
    losing_nothing([&] { searches_.step(); });
    lines.write();
    losing_nothing([&] { lines.read(); });
  }
}

void Translator::Lines::read() {
  if (encoding_.valid() && (!computing() || is_ready(encoding_))) take(encoding_.get());
  // A device must not wait for sentences, so more of them are queued.
  while (!encoding_.valid() && held() < t_.options_.maxi_batch_lines && t_.searches_.wants_more(beside_ ? 2 : 1)) {
    Chunks chunks = next_chunks();
    if (chunks.empty()) return;
    if (computing()) {
      encoding_ = beside_->start([this, chunks = std::move(chunks)]() mutable {
        encode(chunks);
        return std::move(chunks);
      });
    } else {
      encode(chunks);
      take(std::move(chunks));
    }
  }
}

// Some of the input, to be encoded together. Blocks only when there is nothing else to do, and then only for one line.
// While a device computes a step, there is not much time for queueing sentences, of which only a few of a hundred end
// in a step.
Translator::Lines::Chunks Translator::Lines::next_chunks() const {
  constexpr size_t most_bytes = 64 << 10;
  constexpr int64_t most_chunks = 1024, few = 16;
  const bool in_parts = computing() && !t_.searches_.wants_more();
  const int64_t most = std::min(in_parts ? std::max(few, t_.searches_.active() / 8) : most_chunks,
                                t_.options_.maxi_batch_lines - held());
  Chunks chunks;
  size_t bytes = 0;
  Chunk chunk;
  while (std::ssize(chunks) < most && bytes < most_bytes && ((held() == 0 && chunks.empty()) || flow_.ready()) &&
         flow_.next(chunk.text, chunk.more)) {
    bytes += chunk.text.size();
    chunks.push_back(std::exchange(chunk, {}));
  }
  return chunks;
}

void Translator::Lines::encode(Chunks& chunks) const {
  parallel_items(std::ssize(chunks), [&](int64_t i, int) { t_.encode_chunk(chunks[size_t(i)]); });
}

void Translator::Lines::take(Chunks chunks) {
  for (Chunk& chunk : chunks) t_.take(std::move(chunk));
}

void Translator::take(Chunk chunk) {
  const bool more = chunk.more;
  auto sentences = sentences_of(std::move(chunk));
  texts_.push_back({.more = more,
                    .line = line_,
                    .search = search_options_,
                    .wanted = wanted(options_, *search_options_),
                    .alignment = options_.alignment,
                    .source_frame = frames_.source.before.size()});
  start(texts_.back(), std::move(sentences));  // texts stay where they are in memory until they are written
  if (!more) ++line_, segment_ = 0;
}

void Translator::Lines::write() {
  while (write_some(t_.searches_.idle()) && !computing()) continue;
}

// Writes what has been decoded, and has the next finished texts decoded. Returns whether it has done anything. Waits
// for the other thread only if `all`.
bool Translator::Lines::write_some(bool all) {
  const bool has_decoded = decoding_.valid();
  if (has_decoded && !all && !is_ready(decoding_)) return false;
  if (has_decoded) put(decoding_.get());
  Finished finished = next_finished();
  if (finished.texts.empty()) return has_decoded;
  if (computing()) {
    being_decoded_ = std::ssize(finished.texts);
    decoding_ = beside_->start([this, finished = std::move(finished)]() mutable {
      decode(finished);
      return std::move(finished);
    });
  } else {
    decode(finished);
    put(std::move(finished));
  }
  return true;
}

// Throws the error of a text when those before it are written.
Translator::Lines::Finished Translator::Lines::next_finished() {
  Finished finished;
  auto& texts = t_.texts_;
  while (!texts.empty() && texts.front().unfinished == 0 && !texts.front().error) {
    finished.texts.push_back(std::move(texts.front()));
    texts.pop_front();
  }
  if (!finished.texts.empty() || texts.empty() || texts.front().unfinished > 0) return finished;
  const std::exception_ptr error = texts.front().error;
  texts.pop_front();
  std::rethrow_exception(error);
}

void Translator::Lines::decode(Finished& finished) const {
  finished.translations.resize(finished.texts.size());
  parallel_items(std::ssize(finished.texts), [&](int64_t i, int) {
    if (Text& text = finished.texts[size_t(i)]; !text.error)
      finished.translations[size_t(i)] = t_.best(std::move(text));
  });
}

void Translator::Lines::put(Finished finished) {
  being_decoded_ = 0;
  for (size_t i = 0; i < finished.texts.size(); ++i) {
    if (finished.texts[i].error) {
      flow_.flush();
      std::rethrow_exception(finished.texts[i].error);
    }
    if (finished.texts[i].lacks) t_.warn_of_lack(finished.texts[i].line);
    flow_.write(std::move(finished.translations[i]), finished.texts[i].more);
  }
  flow_.flush();
}

}  // namespace dragoman
