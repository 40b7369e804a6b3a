#include "decode/constraint.h"

#include <algorithm>
#include <iterator>

#include "decode/repeats.h"

namespace dragoman {
namespace {

class Prefix : public Constraint {
 public:
  explicit Prefix(std::vector<int32_t> prefix) : prefix_(std::move(prefix)) {}
  Allowed next(State, const HypothesisView& past) const override {
    return decides(past) ? Allowed{.only = true, .ids = {prefix_[size_t(past.length)]}} : Allowed{};
  }
  bool decides(const HypothesisView& past) const override { return size_t(past.length) < prefix_.size(); }
  bool depends_on_tokens() const override { return false; }

 private:
  const std::vector<int32_t> prefix_;
};

class NoRepeats : public Constraint {
 public:
  explicit NoRepeats(int n) : n_(n) {}
  Allowed next(State, const HypothesisView& past) const override {
    std::vector<int32_t> ids = repeating_pieces(past.tokens(), n_);
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return {.ids = std::move(ids)};
  }

 private:
  const int n_;
};

class EndsAfter : public Constraint {
 public:
  EndsAfter(int tokens, int32_t eos) : tokens_(tokens), eos_(eos) {}
  Allowed next(State, const HypothesisView& past) const override {
    return decides(past) ? Allowed{.only = true, .ids = {eos_}} : Allowed{};
  }
  bool decides(const HypothesisView& past) const override { return past.length == tokens_; }
  bool depends_on_tokens() const override { return false; }

 private:
  const int tokens_;
  const int32_t eos_;
};

class LeastLength : public Constraint {
 public:
  LeastLength(int least, int32_t eos) : least_(least), eos_(eos) {}
  Allowed next(State, const HypothesisView& past) const override {
    return past.length < least_ ? Allowed{.ids = {eos_}} : Allowed{};
  }
  bool depends_on_tokens() const override { return false; }

 private:
  const int least_;
  const int32_t eos_;
};

class Without : public Constraint {
 public:
  explicit Without(std::vector<int32_t> ids) : ids_(std::move(ids)) {}
  Allowed next(State, const HypothesisView&) const override { return {.ids = ids_}; }
  bool depends_on_tokens() const override { return false; }

 private:
  const std::vector<int32_t> ids_;
};

class LimitedTo : public Constraint {
 public:
  explicit LimitedTo(const Shortlist& shortlist) : shortlist_(shortlist) {}
  Allowed next(State, const HypothesisView&) const override { return {}; }
  std::vector<int32_t> vocabulary(std::span<const int32_t> source, std::span<const int32_t> more) const override {
    return shortlist_.candidates(source, more);
  }
  bool depends_on_tokens() const override { return false; }

 private:
  const Shortlist& shortlist_;
};

}  // namespace

bool Allowed::contains(int32_t id) const { return std::ranges::binary_search(ids, id) == only; }

void Allowed::narrow(Allowed other) {
  if (!other.only && other.ids.empty()) return;
  if (!only && ids.empty()) return void(*this = std::move(other));
  std::vector<int32_t> both;
  const auto into = std::back_inserter(both);
  if (only && other.only)
    std::ranges::set_intersection(ids, other.ids, into);
  else if (only)
    std::ranges::set_difference(ids, other.ids, into);
  else if (other.only)
    std::ranges::set_difference(other.ids, ids, into);
  else
    std::ranges::set_union(ids, other.ids, into);
  *this = {only || other.only, std::move(both)};
}

Constraint::State Constraint::advance(State state, int32_t) const { return state; }

bool Constraint::decides(const HypothesisView&) const { return false; }

std::vector<int32_t> Constraint::vocabulary(std::span<const int32_t>, std::span<const int32_t>) const { return {}; }

std::shared_ptr<const Constraint> begins_with(std::vector<int32_t> prefix) {
  return std::make_shared<Prefix>(std::move(prefix));
}

std::shared_ptr<const Constraint> repeats_no_ngram(int n) { return std::make_shared<NoRepeats>(n); }

std::shared_ptr<const Constraint> ends_after(int tokens, int32_t eos) {
  return std::make_shared<EndsAfter>(tokens, eos);
}

std::shared_ptr<const Constraint> has_at_least(int least, int32_t eos) {
  return std::make_shared<LeastLength>(least, eos);
}

std::shared_ptr<const Constraint> limited_to(const Shortlist& shortlist) {
  return std::make_shared<LimitedTo>(shortlist);
}
std::shared_ptr<const Constraint> without(std::vector<int32_t> ids) {
  return std::make_shared<Without>(std::move(ids));
}

}  // namespace dragoman
