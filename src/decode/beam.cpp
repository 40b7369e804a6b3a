#include "decode/beam.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "decode/scoring.h"

namespace dragoman {
namespace {

constexpr int no_node = -1;

// The maximum number of tokens: of pieces and of an </s> that the rule forces. A forced prefix is never truncated, and
// there is room for the phrases.
int limit_of(const SearchOptions& options, const Sentence& sentence, const EndingRule& rule) {
  const size_t least = sentence.prefix.size() + sentence.phrases.pieces() + 1;
  return std::max(length_limit(options, int(sentence.source.size())), int(least)) + (rule.forces_end ? 1 : 0);
}

// Of equal candidates the lower hypothesis and id.
bool is_better(const auto& a, const auto& b) {
  if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
  return a.parent != b.parent ? a.parent < b.parent : a.next->id < b.next->id;
}

// The ids of pieces that are never predicted, in ascending order.
std::vector<int32_t> never_predicted(const Conventions& conventions, bool allow_unk) {
  const SpecialIds& special = conventions.special;
  std::set<int32_t> ids = {special.bos, special.pad, allow_unk ? -1 : special.unk};
  ids.insert(conventions.suppressed.begin(), conventions.suppressed.end());
  ids.erase(-1);
  ids.erase(special.eos);
  return {ids.begin(), ids.end()};
}

// The prefix comes first, since it overrides the other constraints; `given` are the tokens before it.
Constraints constraints_of(const SearchOptions& options, const Sentence& sentence, const Conventions& conventions,
                           const EndingRule& rule, int limit) {
  std::vector<int32_t> prefix = frames_of(sentence, conventions).target.before;
  const int given = int(prefix.size());
  prefix.insert(prefix.end(), sentence.prefix.begin(), sentence.prefix.end());
  Constraints all;
  if (!prefix.empty()) all.push_back(begins_with(std::move(prefix)));
  if (rule.forces_end) all.push_back(ends_after(limit - 1, conventions.special.eos));
  if (options.no_repeat_ngram > 0) all.push_back(repeats_no_ngram(options.no_repeat_ngram));
  all.push_back(without(never_predicted(conventions, options.allow_unk)));
  const int most = limit - given - (rule.forces_end ? 1 : 0);  // pieces
  const int least = least_length(options, int(sentence.source.size()), most);
  if (least > 0) all.push_back(has_at_least(given + least, conventions.special.eos));
  all.insert(all.end(), sentence.constraints.begin(), sentence.constraints.end());
  return all;
}

// Whether no translation has the phrase, because of a constraint that phrases do not override.
bool forbids(const Constraint& constraint, const Phrase& phrase) {
  if (constraint.yields_to_phrases()) return false;
  Constraint::State state = constraint.begin();
  for (size_t i = 0; i < phrase.size(); state = constraint.advance(state, phrase[i++])) {
    const auto before = [&] { return std::vector(phrase.begin(), phrase.begin() + ptrdiff_t(i)); };
    if (!constraint.next(state, {int(i), before}).contains(phrase[i])) return true;
  }
  return false;
}

}  // namespace

const SentenceFrames& frames_of(const Sentence& sentence, const Conventions& conventions) {
  return sentence.frames ? *sentence.frames : conventions.frames;
}

int beam_width(const SearchOptions& options, const Sentence& sentence) {
  return options.beam_size + int(std::min(sentence.phrases.pieces(), size_t{most_groups}));
}

std::vector<int32_t> target_of(const Hypothesis& hypothesis, const SentenceFrame& frame) {
  std::vector<int32_t> target = frame.around(hypothesis.ids);
  if (hypothesis.length == int(hypothesis.ids.size())) target.pop_back();
  return target;
}

void drop_impossible(Sentence& sentence, const SearchOptions& options, const Conventions& conventions) {
  if (sentence.phrases.empty()) return;
  std::vector<int32_t> never = never_predicted(conventions, options.allow_unk);
  never.insert(never.end(), {conventions.special.unk, conventions.special.eos});
  std::erase_if(sentence.phrases.all, [&](const Phrase& phrase) {
    return std::ranges::find_first_of(phrase, never) != phrase.end() ||
           std::ranges::any_of(sentence.constraints, [&](const auto& c) { return forbids(*c, phrase); });
  });
}

Beam::Beam(const SearchOptions& options, const Sentence& sentence, const Conventions& conventions)
    : options_(&options),
      beam_(size_t(beam_width(options, sentence))),
      eos_(conventions.special.eos),
      rule_(ending_rule(options, conventions)),
      given_(int(frames_of(sentence, conventions).target.before.size())),
      limit_(given_ + limit_of(options, sentence, rule_)),
      constraints_(constraints_of(options, sentence, conventions, rule_, limit_)),
      stateful_(std::ranges::any_of(
          constraints_, &Constraint::stateful, [](const auto& c) -> auto& { return *c; })),
      same_for_all_(!stateful_ && sentence.phrases.empty() &&
                    std::ranges::none_of(
                        constraints_, &Constraint::depends_on_tokens, [](const auto& c) -> auto& { return *c; })),
      draw_{uint32_t(sentence.line), uint32_t(sentence.line >> 32 ^ sentence.segment << 16), 0, 0} {
  std::vector<Constraint::State> states;
  for (const auto& constraint : constraints_)
    if (stateful_) states.push_back(constraint->begin());
  live_.push_back({-1, -1, 0, no_node, std::move(states)});
  if (sentence.phrases.empty()) return;
  phrases_.emplace(sentence.phrases);
  live_[0].phrases = phrases_->begin();
}

Beam::Width Beam::width() const {
  if (rule_.keeps_positions) {
    const size_t left = beam() - ended_.size();
    return {left, left, left};
  }
  return {2 * beam(), beam(), beam()};
}

// Given tokens before the translation do not count, nor does an end that the rule forces.
bool Beam::costs_nothing() const { return length_ < given_ || (rule_.end_is_free && length_ == limit_ - 1); }

std::vector<RowRequest> Beam::requests() const {
  const size_t positions = width().candidates;
  std::vector<RowRequest> requests;
  requests.reserve(live_.size());
  std::shared_ptr<const Allowed> allowed;
  for (const Live& l : live_) {
    if (!allowed || !same_for_all_) allowed = std::make_shared<const Allowed>(this->allowed(l));
    PhiloxCounter draw = draw_;
    draw[2] = uint32_t(length_), draw[3] = uint32_t(requests.size());
    std::vector<int32_t> required = this->required(l, *allowed);
    const auto with_required = int(positions + required.size());
    requests.push_back({.allowed = allowed,
                        .positions = with_required,
                        .share = std::max(1, int(positions / live_.size())),
                        .draw = draw,
                        .required = std::move(required)});
  }
  return requests;
}

Allowed Beam::allowed(const Live& hypothesis) const {
  const HypothesisView past{length_, [this, node = hypothesis.node] { return pieces(node); }};
  Allowed allowed, even_for_phrases;
  for (size_t i = 0; i < constraints_.size(); ++i) {
    Allowed& narrowed = constraints_[i]->yields_to_phrases() ? allowed : even_for_phrases;
    narrowed.narrow(constraints_[i]->next(stateful_ ? hypothesis.states[i] : 0, past));
    if (constraints_[i]->decides(past)) return allowed;
  }
  if (lacks_phrases(hypothesis)) {
    allowed.narrow({.ids = {eos_}});
    for (const int32_t id : phrases_->next(hypothesis.phrases))
      if (!allowed.only) std::erase(allowed.ids, id);
  }
  allowed.narrow(std::move(even_for_phrases));
  return allowed;
}

std::vector<int32_t> Beam::required(const Live& hypothesis, const Allowed& allowed) const {
  if (!phrases_) return {};
  std::vector<int32_t> ids = phrases_->next(hypothesis.phrases);
  std::erase_if(ids, [&](int32_t id) { return !allowed.contains(id); });
  return ids;
}

Beam::Live Beam::continued(const Candidate& candidate, int node) const {
  const Live& parent = live_[size_t(candidate.parent)];
  const int32_t token = candidate.next->id;
  std::vector<Constraint::State> states = parent.states;
  for (size_t i = 0; i < states.size(); ++i) states[i] = constraints_[i]->advance(states[i], token);
  auto phrases = phrases_ ? phrases_->advance(parent.phrases, token) : RequiredPhrases::State();
  return {candidate.parent, token, candidate.log_prob, node, std::move(states), std::move(phrases)};
}

bool Beam::lacks_phrases(const Live& hypothesis) const { return phrases_ && !phrases_->complete(hypothesis.phrases); }

std::vector<int32_t> Beam::pieces(int node) const {
  std::vector<int32_t> ids;
  for (; node != no_node; node = nodes_[node].previous) ids.push_back(nodes_[node].id);
  std::ranges::reverse(ids);
  return ids;
}

// The best continuations, as many as a step compares, best first.
std::vector<Beam::Candidate> Beam::best_candidates(std::span<const std::vector<Continuation>> continuations) const {
  std::vector<Candidate> all;
  all.reserve(continuations.size() * continuations[0].size());
  for (size_t i = 0; i < continuations.size(); ++i)
    for (const Continuation& c : continuations[i])
      all.push_back({live_[i].log_prob + (costs_nothing() ? 0 : c.log_prob), int(i), &c});
  const size_t compared = std::min(all.size(), width().candidates);
  if (phrases_)
    deal_out(all);
  else
    std::partial_sort(all.begin(), all.begin() + compared, all.end(), is_better<Candidate, Candidate>);
  all.resize(compared);
  return all;
}

// The best candidate of each group, that with the most pieces of phrases first; then the second best of each.
void Beam::deal_out(std::vector<Candidate>& candidates) const {
  struct Grouped {
    Candidate candidate;
    int group, rank;  // pieces of phrases, position in the group
  };
  std::vector<Grouped> grouped;
  for (const Candidate& c : candidates)
    grouped.push_back({c, phrases_->progress(live_[size_t(c.parent)].phrases, c.next->id), 0});
  std::ranges::sort(grouped, [](const Grouped& a, const Grouped& b) {
    return a.group != b.group ? a.group > b.group : is_better(a.candidate, b.candidate);
  });
  for (size_t i = 1; i < grouped.size(); ++i)
    grouped[i].rank = grouped[i].group == grouped[i - 1].group ? grouped[i - 1].rank + 1 : 0;
  std::ranges::stable_sort(grouped, {}, &Grouped::rank);
  std::ranges::transform(grouped, candidates.begin(), &Grouped::candidate);
}

// The tokens without those given before the translation and without its end.
std::vector<int32_t> Beam::translated(int node) const {
  std::vector<int32_t> ids = pieces(node);
  if (!ids.empty() && ids.back() == eos_) ids.pop_back();
  ids.erase(ids.begin(), ids.begin() + ptrdiff_t(std::min(ids.size(), size_t(given_))));
  return ids;
}

// Nodes are newer than their predecessors, so the newest of several nodes belongs to only one hypothesis.
std::vector<int32_t> Beam::decided() const {
  std::set<int, std::greater<>> last;
  for (const Live& l : live_)
    if (ended_.empty() || score_bound(*options_, l.log_prob, length_, limit_) > ended_[0].score) last.insert(l.node);
  if (!ended_.empty()) last.insert(ended_[0].node);
  while (last.size() > 1) {
    const int youngest = *last.begin();
    last.erase(last.begin());
    last.insert(nodes_[size_t(youngest)].previous);
  }
  return last.empty() ? std::vector<int32_t>() : translated(*last.begin());
}

void Beam::advance(std::span<const std::vector<Continuation>> continuations) {
  invariant(continuations.size() == live_.size() && !live_.empty(),
            "expected a list of continuations for each live hypothesis");
  for (size_t i = 0; i < live_.size(); ++i)
    if (continuations[i].empty()) end(live_[i].node, live_[i].log_prob, lacks_phrases(live_[i]));
  const auto candidates = best_candidates(continuations);
  if (candidates.empty()) return live_.clear();
  const Width width = this->width();
  const bool free = costs_nothing();
  std::vector<Live> next;
  next.reserve(width.live);
  ++length_;
  const size_t taken = length_ == limit_ ? width.ending : width.candidates;
  for (size_t rank = 0; rank < std::min(candidates.size(), taken); ++rank) {
    const Candidate& c = candidates[rank];
    const bool ends = c.next->id == eos_;
    if (ends ? rank >= width.ending : next.size() == width.live) continue;
    const Live& parent = live_[size_t(c.parent)];
    nodes_.push_back({parent.node, c.parent, c.next->id, c.next->log_prob, c.next->by_model});
    if (free) nodes_.back().log_prob = 0, std::ranges::fill(nodes_.back().by_model, 0.0f);
    const int node = int(nodes_.size()) - 1;
    if (ends)
      end(node, c.log_prob, lacks_phrases(parent));
    else
      next.push_back(continued(c, node));
  }
  if (phrases_) std::ranges::stable_sort(next, std::greater(), &Live::log_prob);
  best_ended_ |= candidates[0].next->id == eos_;
  live_ = std::move(next);
  if (length_ == limit_) return end_all();
  if (over()) live_.clear();
}

bool Beam::over() const {
  if (rule_.keeps_positions) return !can_improve();
  if (live_.empty()) return true;
  const double worst = ended_.size() < beam() ? 0 : ended_[beam() - 1].score;
  return rule_.over({ended_.size(), beam(), worst, live_[0].log_prob, length_, best_ended_}, *options_);
}

// Live hypotheses are sorted by probability, so the first has the highest bound. Among equal scores, the hypothesis
// that ended first ranks first.
bool Beam::can_improve() const {
  if (live_.empty() || ended_.size() < wanted()) return !live_.empty();
  return score_bound(*options_, live_[0].log_prob, length_, limit_) > ended_[wanted() - 1].score;
}

void Beam::end(int node, double log_prob, bool lacks) {
  if (rule_.keeps_first && ended_.size() == beam()) return;
  const int length = std::max(1, length_);
  const Ended e{score(*options_, log_prob, length), log_prob, node, length, lacks};
  const auto ranks_before = [](const Ended& e, const Ended& other) {
    return e.lacks != other.lacks ? other.lacks : e.score > other.score;
  };
  ended_.insert(std::upper_bound(ended_.begin(), ended_.end(), e, ranks_before), e);
}

void Beam::end_all() {
  for (const Live& l : live_) end(l.node, l.log_prob, lacks_phrases(l));
  live_.clear();
}

std::vector<Hypothesis> Beam::best() const {
  std::vector<Hypothesis> hypotheses;
  for (const Ended& e : best_ended()) hypotheses.push_back(hypothesis(e));
  return hypotheses;
}

std::vector<std::vector<int32_t>> Beam::rows_of_best() const {
  std::vector<std::vector<int32_t>> all;
  for (const Ended& e : best_ended()) {
    std::vector<int32_t>& rows = all.emplace_back();
    for (int n = e.node; n != no_node; n = nodes_[size_t(n)].previous) rows.push_back(nodes_[size_t(n)].row);
    std::ranges::reverse(rows);
  }
  return all;
}

Hypothesis Beam::hypothesis(const Ended& ended) const {
  Hypothesis h{translated(ended.node), ended.log_prob, ended.score, std::max(1, ended.length - given_)};
  for (int n = ended.node; n != no_node; n = nodes_[n].previous) {
    h.piece_log_probs.push_back(nodes_[n].log_prob);
    h.by_model.resize(nodes_[n].by_model.size());
    for (size_t m = 0; m < h.by_model.size(); ++m) h.by_model[m] += nodes_[n].by_model[m];
  }
  std::ranges::reverse(h.piece_log_probs);
  const auto given = ptrdiff_t(std::min(h.piece_log_probs.size(), size_t(given_)));
  h.piece_log_probs.erase(h.piece_log_probs.begin(), h.piece_log_probs.begin() + given);
  return h;
}

}  // namespace dragoman
