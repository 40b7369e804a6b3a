#include "decode/beam_search.h"

#include <algorithm>

namespace dragoman {

Search::Search(Context& cx, std::unique_ptr<Decoding> decoding, const SearchOptions& options, int64_t words)
    : cx_(cx), decoding_(std::move(decoding)), options_(options), words_(words) {}

void Search::add(std::vector<int32_t> source, Found found) {
  source.push_back(eos_id);
  waiting_.push_back({std::move(source), std::move(found)});
  waiting_words_ += words_of(waiting_.back());
}

// Encoding one sentence at a time would waste the machine, so it waits until a quarter of it is free.
void Search::admit() {
  if (active_words_ > words_ / 4 * 3) return;
  PackedIds source;
  std::vector<int32_t> lengths;
  const size_t before = active_.size();
  while (!waiting_.empty() && (active_.empty() || active_words_ + words_of(waiting_.front()) <= words_)) {
    Waiting& next = waiting_.front();
    const int64_t words = words_of(next);
    source.ids.insert(source.ids.end(), next.source.begin(), next.source.end());
    lengths.push_back(int32_t(next.source.size()));
    active_.push_back({0, words, 0, Beam(options_, lengths.back() - 1), std::move(next.found)});
    waiting_words_ -= words;
    active_words_ += words;
    waiting_.pop_front();
  }
  if (lengths.empty()) return;
  source.spans = Spans::of_lengths(lengths);
  const int first = decoding_->add(source, options_.beam_size);
  for (size_t i = before; i < active_.size(); ++i) active_[i].handle = first + int(i - before);
}

std::vector<StepRow> Search::rows() {
  std::vector<StepRow> rows;
  for (Sentence& s : active_) {
    const int before = std::exchange(s.first_row, int(rows.size()));
    for (const auto& l : s.beam.live()) rows.push_back({s.handle, l.parent < 0 ? -1 : before + l.parent, l.token});
  }
  return rows;
}

void Search::step() {
  admit();
  if (active_.empty()) return;
  advance(decoding_->step(rows()));
  dismiss_finished();
}

// A beam takes at most `beam_size` continuations of a row; two more make up for <unk> and <s>, which may be among them.
void Search::advance(const Tensor& logits) {
  const int64_t R = logits.rows(), k = std::min<int64_t>(options_.beam_size + 2, logits.cols());
  const Tensor values = cx_.arena.allocate({R, k}, logits.dtype()), ids = cx_.arena.allocate({R, k}, DType::i32),
               lse = cx_.arena.allocate({R}, stat_type(logits.dtype()));
  cx_.backend.top_k(values, ids, lse, logits);
  std::vector<Continuations> continuations;
  for (Sentence& s : active_) {
    continuations.clear();
    for (size_t i = 0; i < s.beam.live().size(); ++i) {
      const int64_t r = s.first_row + int64_t(i);
      continuations.push_back(
          {{values.as<float>() + r * k, size_t(k)}, {ids.as<int32_t>() + r * k, size_t(k)}, lse.as<float>()[r]});
    }
    s.beam.advance(continuations);
  }
}

void Search::dismiss_finished() {
  for (Sentence& s : active_) {
    if (!s.beam.live().empty()) continue;
    decoding_->remove(s.handle);
    active_words_ -= s.words;
    s.found(s.beam.best());
  }
  std::erase_if(active_, [](const Sentence& s) { return s.beam.live().empty(); });
}

std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options, int64_t words,
                                                 std::span<const std::vector<int32_t>> sources) {
  std::vector<std::vector<Hypothesis>> found(sources.size());
  Search search(cx, model.decode(cx), options, words);
  for (size_t i = 0; i < sources.size(); ++i)
    search.add(sources[i], [&found, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
  while (!search.idle()) search.step();
  return found;
}

}  // namespace dragoman
