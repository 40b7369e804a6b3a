#include "decode/beam_search.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "model/model.h"

namespace dragoman {
namespace {

bool is_lack_of_memory(const std::exception& error) {
  return dynamic_cast<const OutOfMemory*>(&error) || dynamic_cast<const std::bad_alloc*>(&error);
}

}  // namespace

Search::Search(Ensemble models, int64_t tokens) : models_(std::move(models)), tokens_(tokens) {}

// A sentence with phrases has more hypotheses than the beam size, and needs as much more memory.
int64_t Search::tokens_of(const Waiting& w) {
  const int64_t width = beam_width(*w.options, w.sentence), beam = w.options->beam_size;
  const int64_t tokens = std::max(int64_t(w.sentence.source.size()) + 1, (beam + 1) / 2);
  return (tokens * width + beam - 1) / beam;
}

Search::Ticket Search::add(Sentence sentence, Options options, Wanted wanted, Found found, Failed failed,
                           Partial partial, Aligned aligned) {
  drop_impossible(sentence, *options, models_.conventions());
  waiting_.push_back({++last_ticket_, std::move(sentence), std::move(options), wanted, std::move(found),
                      std::move(failed), std::move(partial), std::move(aligned)});
  waiting_tokens_ += tokens_of(waiting_.back());
  return last_ticket_;
}

bool Search::cancel(Ticket ticket) {
  const auto queued = std::ranges::find(waiting_, ticket, &Waiting::ticket);
  if (queued != waiting_.end()) {
    waiting_tokens_ -= tokens_of(*queued);
    waiting_.erase(queued);
    return true;
  }
  if (const auto active = std::ranges::find(active_, ticket, &Active::ticket); active != active_.end()) {
    forget(*active);
    active_.erase(active);
    return true;
  }
  const auto ended = std::ranges::find(ended_, ticket, [](const Ended& e) { return e.sentence.ticket; });
  if (ended == ended_.end()) return false;
  forget(ended->sentence);
  ended_.erase(ended);
  return true;
}

void Search::forget(const Active& sentence) {
  models_.remove(sentence.handle);
  active_tokens_ -= sentence.tokens;
  full_ = false;
}

// Encoding one sentence at a time would be inefficient, so this waits until a quarter of the budget is free.
bool Search::admits() const {
  if (full_ || waiting_.empty() || active_tokens_ > tokens_ / 4 * 3) return false;
  return active_.empty() || active_tokens_ + tokens_of(waiting_.front()) <= tokens_;
}

// Sentences that are encoded together have the same beam size, and room for the widest beam of them.
void Search::admit() {
  if (!admits()) return;
  int64_t taken = active_tokens_;
  const auto fits = [&] { return !waiting_.empty() && (taken == 0 || taken + tokens_of(waiting_.front()) <= tokens_); };
  while (!full_ && fits()) {
    std::vector<Waiting> together;
    const int width = waiting_.front().options->beam_size;
    while (fits() && waiting_.front().options->beam_size == width) {
      taken += tokens_of(waiting_.front());
      together.push_back(take_next());
    }
    admit(std::move(together));
  }
}

// If there is not enough memory for all of them together, those that fit by themselves are started, and the next one
// waits.
void Search::admit(std::vector<Waiting> sentences) {
  PackedIds source;
  std::vector<int32_t> lengths;
  std::vector<std::vector<int32_t>> choices;
  int width = 0;
  for (const Waiting& w : sentences) {
    width = std::max(width, beam_width(*w.options, w.sentence));
    const auto sentence = frames_of(w.sentence, models_.conventions()).source.around(w.sentence.source);
    source.ids.insert(source.ids.end(), sentence.begin(), sentence.end());
    lengths.push_back(int32_t(sentence.size()));
    if (auto vocabulary = vocabulary_of(w); !vocabulary.empty()) choices.push_back(std::move(vocabulary));
  }
  source.spans = Spans::of_lengths(lengths);
  invariant(choices.empty() || choices.size() == sentences.size(),
            "either all sentences of a search must have a vocabulary, or none");
  int handle = 0;
  try {
    if (std::ranges::any_of(sentences, [](const Waiting& w) { return bool(w.aligned); })) models_.keep_attention();
    handle = models_.add(source, width, std::move(choices));
  } catch (const std::exception& error) {
    const bool lack = is_lack_of_memory(error);
    if (!lack && !dynamic_cast<const Error*>(&error)) throw;
    if (sentences.size() > 1) return admit_one_by_one(std::move(sentences));
    if (lack && !(active_.empty() && ended_.empty())) return put_back(std::move(sentences[0]));
    if (!sentences[0].failed) throw;
    return sentences[0].failed(std::current_exception());
  }
  for (Waiting& w : sentences) {
    const int64_t tokens = tokens_of(w);
    active_tokens_ += tokens;
    Beam beam(*w.options, w.sentence, models_.conventions());
    auto picker = make_picker(*w.options);
    const int width = beam_width(*w.options, w.sentence);
    const bool log_probs = w.wanted == Wanted::log_probs || width > 1;
    active_.push_back({w.ticket, handle++, tokens, 0, 0, width, std::move(w.options), log_probs, std::move(picker),
                       std::move(beam), std::move(w.found), std::move(w.failed), std::move(w.partial),
                       std::move(w.aligned)});
  }
}

void Search::admit_one_by_one(std::vector<Waiting> sentences) {
  const size_t count = sentences.size();
  for (; !sentences.empty(); sentences.pop_back()) put_back(std::move(sentences.back()));
  full_ = false;
  for (size_t i = 0; i < count && !full_; ++i) {
    std::vector<Waiting> alone;
    alone.push_back(take_next());
    admit(std::move(alone));
  }
}

Search::Waiting Search::take_next() {
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_tokens_ -= tokens_of(next);
  return next;
}

void Search::put_back(Waiting sentence) {
  waiting_tokens_ += tokens_of(sentence);
  waiting_.push_front(std::move(sentence));
  full_ = true;
}

// Empty: all pieces.
std::vector<int32_t> Search::vocabulary_of(const Waiting& waiting) const {
  const Conventions& conventions = models_.conventions();
  std::vector<int32_t> more = frames_of(waiting.sentence, conventions).target.around(waiting.sentence.prefix);
  if (waiting.options->allow_unk) more.push_back(conventions.special.unk);
  for (const Phrase& phrase : waiting.sentence.phrases.all) more.insert(more.end(), phrase.begin(), phrase.end());
  for (const auto& constraint : waiting.sentence.constraints)
    if (auto vocabulary = constraint->vocabulary(waiting.sentence.source, more); !vocabulary.empty()) return vocabulary;
  return {};
}

std::vector<StepRow> Search::rows() {
  std::vector<StepRow> rows;
  for (Active& s : active_) {
    s.next_row = int(rows.size());
    for (const auto& l : s.beam.live()) rows.push_back({s.handle, l.parent < 0 ? -1 : s.first_row + l.parent, l.token});
  }
  return rows;
}

// The union of what all sentences need to know.
PredictionRequest Search::request_of(std::span<const RowRequest> requests, Picker::Enough enough) const {
  PredictionRequest all{.best = 1, .all = false, .log_probs = false};
  for (const Active& s : active_) {
    const PredictionRequest one = s.picker->request(requests.subspan(size_t(s.next_row), s.beam.live().size()), enough);
    all = {std::max(all.best, one.best), all.all || one.all, all.log_probs || s.log_probs};
  }
  return all;
}

bool Search::has_enough(const Predictions& predictions, std::span<const RowRequest> requests, int64_t best) const {
  for (const Active& s : active_)
    for (size_t i = 0; i < s.beam.live().size(); ++i) {
      const size_t row = size_t(s.next_row) + i;
      if (!s.picker->has_enough(predictions, int64_t(row), requests[row], best)) return false;
    }
  return true;
}

std::vector<RowRequest> Search::requests() const {
  std::vector<RowRequest> requests;
  for (const Active& s : active_) std::ranges::move(s.beam.requests(), std::back_inserter(requests));
  return requests;
}

void Search::pick(const Predictions& predictions, std::span<const RowRequest> requests) {
  std::vector<const Active*> of_row;
  for (const Active& s : active_) of_row.insert(of_row.end(), s.beam.live().size(), &s);
  picked_.resize(requests.size());
  const auto pick = [&](int64_t row, int) {
    const Active& s = *of_row[size_t(row)];
    std::vector<Continuation>& picked = picked_[size_t(row)];
    s.picker->pick(predictions, row, requests[size_t(row)], picked);
    if (!s.log_probs)
      for (Continuation& c : picked) c.log_prob = 0;  // even if other sentences need theirs
  };
  if (predictions.has_all_scores()) return parallel_items(std::ssize(requests), pick);
  // Waking other threads would take longer than choosing among the best pieces.
  for (int64_t row = 0; row < std::ssize(requests); ++row) pick(row, 0);
}

// The device computes ahead for as long as its guess is likely to be right: while no sentence is about to begin, all
// are searched for the best pieces, and no constraint is at work but that against the suppressed pieces. With required
// phrases, the beam does not take the most probable hypotheses. After the last step of all sentences there is none.
std::optional<AheadRequest> Search::ahead_request(std::span<const RowRequest> requests) const {
  if (!models_.may_step_ahead() || admits() || requests.empty()) return {};
  if (std::ranges::all_of(active_, [](const Active& s) { return s.beam.at_limit(); })) return {};
  AheadRequest ahead{.suppressed = requests[0].allowed->ids, .end = models_.conventions().special.eos};
  for (const RowRequest& r : requests)
    if (r.allowed->only || r.allowed->ids != ahead.suppressed) return {};
  for (const Active& s : active_) {
    const auto& live = s.beam.live();
    if (!s.picker->picks_best() || s.beam.has_phrases() || live.size() != s.beam.room()) return {};
    ahead.first.push_back(s.next_row);
    ahead.compared.push_back(requests[size_t(s.next_row)].positions);
    for (const Beam::Live& l : live) ahead.log_probs.push_back(l.log_prob);
  }
  ahead.first.push_back(int32_t(requests.size()));
  return ahead;
}

// Sentences that wait begin after a step of others that is being computed already.
void Search::step() {
  if (active_.empty() || !models_.is_ahead()) admit();
  while (!active_.empty()) {
    try {
      predict();
      break;
    } catch (const std::exception& error) {
      if (!is_lack_of_memory(error)) throw;
      give_up_largest();
    }
  }
  if (!active_.empty()) extend();
  report_beginnings();
  std::vector<Ended> finished = take_finished();
  std::exception_ptr error;  // what has been found is not lost
  try {
    if (models_.on_device()) occupy_device();
  } catch (...) {
    error = std::current_exception();
  }
  for (Ended& e : finished) {
    if (!e.error)
      e.sentence.found(std::move(e.best));
    else if (e.sentence.failed)
      e.sentence.failed(e.error);
    else
      error = e.error;
  }
  if (error) std::rethrow_exception(error);
}

// Begins what the next step would begin with, so that the device computes while the host writes translations and reads.
void Search::occupy_device() {
  if (!active_.empty() && models_.is_ahead()) return;
  admit();
  if (active_.empty()) return;
  try {
    const auto step_rows = rows();
    models_.begin(step_rows, request_of(requests(), Picker::Enough::usually));
  } catch (const std::exception& error) {  // the next step will show whom there is no memory for
    if (!is_lack_of_memory(error)) throw;
  }
}

void Search::give_up_largest() {
  auto largest = active_.begin();
  for (auto s = active_.begin(); s != active_.end(); ++s)
    if (s->width * s->tokens >= largest->width * largest->tokens) largest = s;
  if (!largest->failed) throw;
  const Failed failed = std::move(largest->failed);
  cancel(largest->ticket);
  failed(std::current_exception());
}

// Finds what follows each live hypothesis. If it throws, the step may be repeated for fewer sentences.
void Search::predict() {
  const auto step_rows = rows();
  const auto requests = this->requests();
  const auto ahead = ahead_request(requests);
  const PredictionRequest usual = request_of(requests, Picker::Enough::usually);
  Predictions predictions = models_.step(step_rows, usual, ahead ? &*ahead : nullptr);
  if (!has_enough(predictions, requests, usual.best))
    predictions = models_.step(step_rows, request_of(requests, Picker::Enough::surely));
  pick(predictions, requests);
}

void Search::extend() {
  models_.keep();
  for (Active& s : active_) {
    s.first_row = s.next_row;
    s.beam.advance(std::span(picked_).subspan(size_t(s.first_row), s.beam.live().size()));
  }
}

void Search::report_beginnings() {
  for (Active& s : active_) {
    if (!s.partial || s.beam.live().empty()) continue;
    const auto decided = s.beam.decided();
    if (std::exchange(s.decided, decided.size()) < decided.size()) s.partial(decided);
  }
}

Search::Ended Search::ended(Active sentence) const {
  Ended e{std::move(sentence), {}, {}};
  e.best = e.sentence.beam.best();
  if (e.sentence.aligned)
    for (auto& rows : e.sentence.beam.rows_of_best()) e.to_align.push_back({e.sentence.handle, std::move(rows)});
  return e;
}

// The models remember sentences until they have been aligned.
std::vector<Search::Ended> Search::take_finished() {
  for (Active& s : active_)
    if (s.beam.live().empty()) ended_.push_back(ended(std::move(s)));
  std::erase_if(active_, [](const Active& s) { return s.beam.live().empty(); });
  align_next_batch();
  const auto done = std::stable_partition(ended_.begin(), ended_.end(), [](const Ended& e) { return !e.done(); });
  std::vector<Ended> finished(std::make_move_iterator(done), std::make_move_iterator(ended_.end()));
  ended_.erase(done, ended_.end());
  for (const Ended& e : finished) forget(e.sentence);
  return finished;
}

// Those of one batch, since matrices of attention weights are large, and all other sentences wait for them.
std::vector<Search::ToAlign> Search::next_batch_to_align() {
  std::vector<ToAlign> next;
  int64_t tokens = 0;
  for (Ended& e : ended_)
    for (size_t rank = e.aligned; rank < e.to_align.size(); ++rank) {
      tokens += std::max(e.sentence.tokens, std::ssize(e.to_align[rank].rows));
      if (!next.empty() && tokens > tokens_) return next;
      next.push_back({&e, rank});
    }
  return next;
}

// If there is no memory for all together, each is tried alone, and only the sentences fail that cannot be aligned.
void Search::align_next_batch() {
  const std::vector<ToAlign> next = next_batch_to_align();
  if (next.empty()) return;
  try {
    return align(next);
  } catch (const std::exception& error) {
    if (!is_lack_of_memory(error)) throw;
  }
  for (const ToAlign& one : next) {
    if (one.sentence->error) continue;
    try {
      align({&one, 1});
    } catch (const std::exception& error) {
      if (!is_lack_of_memory(error)) throw;
      one.sentence->error = std::current_exception();
    }
  }
}

void Search::align(std::span<const ToAlign> hypotheses) {
  std::vector<DecodedTokens> tokens;
  for (const auto& [sentence, rank] : hypotheses) tokens.push_back(sentence->to_align[rank]);
  std::vector<Alignment> alignments = models_.align(tokens);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto& [e, rank] = hypotheses[i];
    drop_targets(alignments[i], e->sentence.beam.given());
    e->sentence.aligned(e->best[rank], std::move(alignments[i]));
    ++e->aligned;
  }
}

std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options,
                                                 int64_t tokens, std::span<const std::vector<int32_t>> sources,
                                                 const Shortlist* shortlist) {
  std::vector<std::vector<Hypothesis>> found(sources.size());
  std::vector<Ensemble::Member> alone;
  alone.push_back({model.decode(cx)});
  Search search(Ensemble(cx, std::move(alone), conventions_of(model.config())), tokens);
  Constraints constraints;
  if (shortlist) constraints.push_back(limited_to(*shortlist));
  const auto shared = std::make_shared<const SearchOptions>(options);
  for (size_t i = 0; i < sources.size(); ++i)
    search.add({.source = sources[i], .line = i, .constraints = constraints}, shared, Wanted::log_probs,
               [&found, i](std::vector<Hypothesis> best) { found[i] = std::move(best); });
  while (!search.idle()) search.step();
  return found;
}

}  // namespace dragoman
