#include "decode/beam_search.h"

#include <algorithm>
#include <iterator>

namespace dragoman {

Search::Search(Ensemble models, const SearchOptions& options, int64_t tokens, const Shortlist* shortlist, Wanted wanted)
    : models_(std::move(models)),
      options_(options),
      picker_(make_picker(options)),
      log_probs_(wanted == Wanted::log_probs || options.beam_size > 1),
      tokens_(tokens),
      shortlist_(shortlist) {}

void Search::add(Sentence sentence, Found found) {
  waiting_.push_back({std::move(sentence), std::move(found)});
  waiting_tokens_ += tokens_of(waiting_.back());
}

// Encoding one sentence at a time is inefficient, so this waits until a quarter of the token budget is free.
void Search::admit() {
  if (active_tokens_ > tokens_ / 4 * 3) return;
  PackedIds source;
  std::vector<int32_t> lengths;
  std::vector<std::vector<int32_t>> choices;
  const size_t before = active_.size();
  while (!waiting_.empty() && (active_.empty() || active_tokens_ + tokens_of(waiting_.front()) <= tokens_)) {
    Waiting& next = waiting_.front();
    const int64_t tokens = tokens_of(next);
    const auto& pieces = next.sentence.source;
    source.ids.insert(source.ids.end(), pieces.begin(), pieces.end());
    source.ids.push_back(eos_id);
    lengths.push_back(int32_t(pieces.size() + 1));
    if (shortlist_) choices.push_back(candidates(next.sentence));
    active_.push_back({0, tokens, 0, Beam(options_, next.sentence), std::move(next.found)});
    waiting_tokens_ -= tokens;
    active_tokens_ += tokens;
    waiting_.pop_front();
  }
  if (lengths.empty()) return;
  source.spans = Spans::of_lengths(lengths);
  const int first = models_.add(source, options_.beam_size, std::move(choices));
  for (size_t i = before; i < active_.size(); ++i) active_[i].handle = first + int(i - before);
}

std::vector<int32_t> Search::candidates(const Sentence& sentence) const {
  std::vector<int32_t> more = sentence.prefix;
  more.push_back(eos_id);
  if (options_.allow_unk) more.push_back(unk_id);
  return shortlist_->candidates(sentence.source, more);
}

std::vector<StepRow> Search::rows() {
  std::vector<StepRow> rows;
  for (Active& s : active_) {
    const int before = std::exchange(s.first_row, int(rows.size()));
    for (const auto& l : s.beam.live()) rows.push_back({s.handle, l.parent < 0 ? -1 : before + l.parent, l.token});
  }
  return rows;
}

std::vector<Request> Search::requests() const {
  std::vector<Request> requests;
  for (const Active& s : active_) std::ranges::move(s.beam.requests(), std::back_inserter(requests));
  return requests;
}

void Search::step() {
  admit();
  if (active_.empty()) return;
  const std::vector<Request> wanted = requests();
  PredictionRequest request = picker_->request(wanted);
  request.log_probs = log_probs_;
  const Predictions predictions = models_.step(rows(), request);
  const auto continuations = picker_->pick(predictions, wanted);
  for (Active& s : active_) s.beam.advance(std::span(continuations).subspan(size_t(s.first_row), s.beam.live().size()));
  dismiss_finished();
}

void Search::dismiss_finished() {
  for (Active& s : active_) {
    if (!s.beam.live().empty()) continue;
    models_.remove(s.handle);
    active_tokens_ -= s.tokens;
    s.found(s.beam.best());
  }
  std::erase_if(active_, [](const Active& s) { return s.beam.live().empty(); });
}

std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options,
                                                 int64_t tokens, std::span<const std::vector<int32_t>> sources,
                                                 const Shortlist* shortlist) {
  std::vector<std::vector<Hypothesis>> found(sources.size());
  std::vector<Ensemble::Member> alone;
  alone.push_back({model.decode(cx)});
  Search search(Ensemble(cx, std::move(alone)), options, tokens, shortlist);
  for (size_t i = 0; i < sources.size(); ++i)
    search.add({.source = sources[i], .line = i},
               [&found, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
  while (!search.idle()) search.step();
  return found;
}

}  // namespace dragoman
