#include "decode/beam.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "decode/scoring.h"
#include "model/model.h"

namespace dragoman {
namespace {

constexpr int no_node = -1;

}  // namespace

Beam::Beam(const SearchOptions& options, int source_pieces)
    : options_(&options), limit_(length_limit(options, source_pieces)), live_{{-1, bos_id, 0, no_node}} {}

bool Beam::forbidden(int32_t id) const { return id == bos_id || (id == unk_id && !options_->allow_unk); }

// As many as there are places left, best first.
std::vector<Beam::Candidate> Beam::best_candidates(std::span<const Continuations> continuations) const {
  std::vector<Candidate> all;
  all.reserve(continuations.size() * continuations[0].ids.size());
  for (size_t i = 0; i < continuations.size(); ++i) {
    const auto& [logits, ids, lse] = continuations[i];
    if (!std::isfinite(lse))
      throw Error("the model's output is not a number: its weights are damaged, or training has diverged",
                  "take an earlier checkpoint; dragoman inspect shows what a model file holds");
    for (size_t j = 0; j < ids.size(); ++j)  // rounding must not make a probability larger than 1
      if (!forbidden(ids[j])) all.push_back({live_[i].log_prob + std::min(0.f, logits[j] - lse), int(i), ids[j]});
  }
  const size_t width = std::min(all.size(), size_t(options_->beam_size) - ended_.size());
  std::partial_sort(all.begin(), all.begin() + width, all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
    return a.parent != b.parent ? a.parent < b.parent : a.id < b.id;
  });
  all.resize(width);
  return all;
}

void Beam::advance(std::span<const Continuations> continuations) {
  invariant(continuations.size() == live_.size() && !live_.empty(), "continuations of each live hypothesis");
  std::vector<Live> next;
  ++length_;
  for (const Candidate& c : best_candidates(continuations)) {
    const int parent = live_[c.parent].node;
    if (c.id == eos_id) {
      end(parent, c.log_prob);
    } else {
      nodes_.push_back({parent, c.id});
      next.push_back({c.parent, c.id, c.log_prob, int(nodes_.size()) - 1});
    }
  }
  live_ = std::move(next);
  if (length_ == limit_)
    for (const Live& l : live_) end(l.node, l.log_prob);
  if (length_ == limit_ || !can_improve()) live_.clear();
}

// Live hypotheses stand in the order of their probability, so the first has the highest bound. Equal scores leave the
// one that ended first in front.
bool Beam::can_improve() const {
  if (live_.empty() || ended_.size() < wanted()) return !live_.empty();
  return score_bound(*options_, live_[0].log_prob, length_, limit_) > ended_[wanted() - 1].score;
}

void Beam::end(int node, double log_prob) {
  const Ended e{score(*options_, log_prob, length_), log_prob, node, length_};
  const auto worse = [](double score, const Ended& other) { return score > other.score; };
  ended_.insert(std::upper_bound(ended_.begin(), ended_.end(), e.score, worse), e);
}

std::vector<Hypothesis> Beam::best() const {
  std::vector<Hypothesis> hypotheses;
  for (const Ended& e : std::span(ended_).first(std::min(wanted(), ended_.size()))) {
    Hypothesis h{{}, e.log_prob, e.score, e.length};
    for (int n = e.node; n != no_node; n = nodes_[n].previous) h.ids.push_back(nodes_[n].id);
    std::reverse(h.ids.begin(), h.ids.end());
    hypotheses.push_back(std::move(h));
  }
  return hypotheses;
}

}  // namespace dragoman
