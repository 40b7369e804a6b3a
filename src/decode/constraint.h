#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dragoman/search_options.h"
#include "io/shortlist.h"

namespace dragoman {

/// The pieces that may follow a hypothesis: only `ids`, or all but `ids`; in ascending order.
struct Allowed {
  bool only = false;
  std::vector<int32_t> ids = {};

  bool contains(int32_t id) const;
  /// Keeps only the pieces that both allow.
  void narrow(Allowed other);
};

/// The view of a hypothesis that a constraint gets.
struct HypothesisView {
  int length = 0;                                // tokens so far
  std::function<std::vector<int32_t>()> tokens;  // computed when called
};

/// A rule for what may come next in the translation of one sentence: a forced prefix, no repeated n-grams, lengths, a
/// shortlist, terms that must or must not occur. A constraint may keep a state per hypothesis, a number that follows
/// the hypothesis through the beam; most rules need none. Constraints are immutable, so threads and sentences may share
/// them.
class Constraint {
 public:
  using State = int64_t;

  virtual ~Constraint() = default;
  /// Whether it has states.
  virtual bool stateful() const { return false; }
  /// The state of the empty hypothesis.
  virtual State begin() const { return 0; }
  /// The state after one more token.
  virtual State advance(State state, int32_t token) const;
  /// The pieces that may follow; </s> is one of them if the hypothesis may end here.
  virtual Allowed next(State state, const HypothesisView& past) const = 0;
  /// Whether next() or decides() depends on the tokens of the hypothesis, and not only on its state and their number.
  virtual bool depends_on_tokens() const { return true; }
  /// Whether this constraint overrides those after it at this point: a forced prefix may violate any of them.
  virtual bool decides(const HypothesisView& past) const;
  /// Whether required phrases override it: their pieces are allowed where they begin or continue a phrase.
  virtual bool yields_to_phrases() const { return true; }
  /// The only pieces that may occur in the translation of `source`, in ascending order and including `more`; empty: all
  /// pieces. The scores of other pieces are not computed, and probabilities are normalised over these pieces. In a
  /// search, either all sentences have a constraint with such a vocabulary or none has; if a sentence has several, the
  /// first one is used.
  virtual std::vector<int32_t> vocabulary(std::span<const int32_t> source, std::span<const int32_t> more) const;
};

using Constraints = std::vector<std::shared_ptr<const Constraint>>;

/// The translation begins with these pieces.
std::shared_ptr<const Constraint> begins_with(std::vector<int32_t> prefix);
/// No n-gram occurs twice; n > 0.
std::shared_ptr<const Constraint> repeats_no_ngram(int n);
/// After this many tokens, only `eos` follows.
std::shared_ptr<const Constraint> ends_after(int tokens, int32_t eos);
/// `eos` does not come before `least` other tokens.
std::shared_ptr<const Constraint> has_at_least(int least, int32_t eos);
/// Only candidates of the shortlist occur. The shortlist must outlive the constraint.
std::shared_ptr<const Constraint> limited_to(const Shortlist& shortlist);
/// None of these pieces occurs; ids in ascending order.
std::shared_ptr<const Constraint> without(std::vector<int32_t> ids);

}  // namespace dragoman
