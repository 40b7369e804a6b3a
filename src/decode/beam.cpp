#include "decode/beam.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "decode/scoring.h"

namespace dragoman {
namespace {

constexpr int no_node = -1;

// A forced prefix is never truncated.
int limit_of(const SearchOptions& options, const Sentence& sentence) {
  return std::max(length_limit(options, int(sentence.source.size())), int(sentence.prefix.size()) + 1);
}

// In ascending order.
std::vector<int32_t> never_predicted(const SpecialIds& special, bool allow_unk) {
  std::set<int32_t> ids = {special.bos, special.pad, allow_unk ? -1 : special.unk};
  ids.erase(-1);
  ids.erase(special.eos);
  return {ids.begin(), ids.end()};
}

// The prefix comes first, since it decides alone.
Constraints constraints_of(const SearchOptions& options, const Sentence& sentence, const SpecialIds& special,
                           int limit) {
  Constraints all;
  if (!sentence.prefix.empty()) all.push_back(begins_with(sentence.prefix));
  if (options.no_repeat_ngram > 0) all.push_back(repeats_no_ngram(options.no_repeat_ngram));
  all.push_back(without(never_predicted(special, options.allow_unk)));
  const int least = least_length(options, int(sentence.source.size()), limit);
  if (least > 0) all.push_back(has_at_least(least, special.eos));
  all.insert(all.end(), sentence.constraints.begin(), sentence.constraints.end());
  return all;
}

}  // namespace

Beam::Beam(const SearchOptions& options, const Sentence& sentence, const SpecialIds& special)
    : options_(&options),
      eos_(special.eos),
      limit_(limit_of(options, sentence)),
      constraints_(constraints_of(options, sentence, special, limit_)),
      stateful_(std::ranges::any_of(
          constraints_, &Constraint::stateful, [](const auto& c) -> auto& { return *c; })),
      draw_{uint32_t(sentence.line), uint32_t(sentence.line >> 32 ^ sentence.part << 16), 0, 0} {
  std::vector<Constraint::State> states;
  for (const auto& constraint : constraints_)
    if (stateful_) states.push_back(constraint->begin());
  live_.push_back({-1, -1, 0, no_node, std::move(states)});
}

std::vector<RowRequest> Beam::requests() const {
  std::vector<RowRequest> requests;
  for (const Live& l : live_) {
    PhiloxCounter draw = draw_;
    draw[2] = uint32_t(length_), draw[3] = uint32_t(requests.size());
    requests.push_back({.allowed = allowed(l),
                        .positions = int(positions()),
                        .share = std::max(1, int(positions() / live_.size())),
                        .draw = draw});
  }
  return requests;
}

Allowed Beam::allowed(const Live& hypothesis) const {
  const Past past{length_, [this, node = hypothesis.node] { return pieces(node); }};
  Allowed allowed;
  for (size_t i = 0; i < constraints_.size(); ++i) {
    allowed.narrow(constraints_[i]->next(stateful_ ? hypothesis.states[i] : 0, past));
    if (constraints_[i]->decides(past)) break;
  }
  return allowed;
}

std::vector<Constraint::State> Beam::advanced(const Live& parent, int32_t token) const {
  std::vector<Constraint::State> states = parent.states;
  for (size_t i = 0; i < states.size(); ++i) states[i] = constraints_[i]->advance(states[i], token);
  return states;
}

std::vector<int32_t> Beam::pieces(int node) const {
  std::vector<int32_t> ids;
  for (; node != no_node; node = nodes_[node].previous) ids.push_back(nodes_[node].id);
  std::ranges::reverse(ids);
  return ids;
}

// At most positions() of them, best first.
std::vector<Beam::Candidate> Beam::best_candidates(std::span<const std::vector<Continuation>> continuations) const {
  std::vector<Candidate> all;
  for (size_t i = 0; i < continuations.size(); ++i)
    for (const Continuation& c : continuations[i]) all.push_back({live_[i].log_prob + c.log_prob, int(i), &c});
  const size_t width = std::min(all.size(), positions());
  std::partial_sort(all.begin(), all.begin() + width, all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
    return a.parent != b.parent ? a.parent < b.parent : a.next->id < b.next->id;
  });
  all.resize(width);
  return all;
}

void Beam::advance(std::span<const std::vector<Continuation>> continuations) {
  invariant(continuations.size() == live_.size() && !live_.empty(), "continuations of each live hypothesis");
  const auto candidates = best_candidates(continuations);
  if (candidates.empty()) return end_all();
  std::vector<Live> next;
  ++length_;
  for (const Candidate& c : candidates) {
    nodes_.push_back({live_[c.parent].node, c.next->id, c.next->log_prob, c.next->by_model});
    const int node = int(nodes_.size()) - 1;
    if (c.next->id == eos_)
      end(node, c.log_prob);
    else
      next.push_back({c.parent, c.next->id, c.log_prob, node, advanced(live_[size_t(c.parent)], c.next->id)});
  }
  live_ = std::move(next);
  if (length_ == limit_) return end_all();
  if (!can_improve()) live_.clear();
}

// Live hypotheses are sorted by probability, so the first has the highest bound. Among equal scores, the hypothesis
// that ended first ranks first.
bool Beam::can_improve() const {
  if (live_.empty() || ended_.size() < wanted()) return !live_.empty();
  return score_bound(*options_, live_[0].log_prob, length_, limit_) > ended_[wanted() - 1].score;
}

void Beam::end(int node, double log_prob) {
  const int length = std::max(1, length_);
  const Ended e{score(*options_, log_prob, length), log_prob, node, length};
  const auto worse = [](double score, const Ended& other) { return score > other.score; };
  ended_.insert(std::upper_bound(ended_.begin(), ended_.end(), e.score, worse), e);
}

void Beam::end_all() {
  for (const Live& l : live_) end(l.node, l.log_prob);
  live_.clear();
}

std::vector<Hypothesis> Beam::best() const {
  std::vector<Hypothesis> hypotheses;
  for (const Ended& e : std::span(ended_).first(std::min(wanted(), ended_.size()))) hypotheses.push_back(hypothesis(e));
  return hypotheses;
}

Hypothesis Beam::hypothesis(const Ended& ended) const {
  Hypothesis h{pieces(ended.node), ended.log_prob, ended.score, ended.length};
  if (!h.ids.empty() && h.ids.back() == eos_) h.ids.pop_back();
  for (int n = ended.node; n != no_node; n = nodes_[n].previous) {
    h.piece_log_probs.push_back(nodes_[n].log_prob);
    h.by_model.resize(nodes_[n].by_model.size());
    for (size_t m = 0; m < h.by_model.size(); ++m) h.by_model[m] += nodes_[n].by_model[m];
  }
  std::ranges::reverse(h.piece_log_probs);
  return h;
}

}  // namespace dragoman
