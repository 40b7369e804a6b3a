#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "decode/options.h"
#include "io/shortlist.h"

namespace dragoman {

/// The pieces that may follow a hypothesis: only `ids`, or all but `ids`; in ascending order.
struct Allowed {
  bool only = false;
  std::vector<int32_t> ids = {};

  bool contains(int32_t id) const;
  /// Leaves what both allow.
  void narrow(Allowed other);
};

/// What a constraint may look at of a hypothesis.
struct Past {
  int length = 0;                                // tokens so far
  std::function<std::vector<int32_t>()> tokens;  // computed when called
};

/// A rule for what may come next in the translation of one sentence: a forced prefix, no repeated n-grams, lengths, a
/// shortlist, terms that must or must not occur. What it has to know of a hypothesis is a number, its state, which
/// follows the hypothesis through the beam; most rules need none. A constraint is immutable: threads and sentences may
/// share it.
class Constraint {
 public:
  using State = int64_t;

  virtual ~Constraint() = default;
  /// Whether it has states at all.
  virtual bool stateful() const { return false; }
  /// The state of the empty hypothesis.
  virtual State begin() const { return 0; }
  /// The state after one more token.
  virtual State advance(State state, int32_t token) const;
  /// The pieces that may follow; </s> is one of them if the hypothesis may end here.
  virtual Allowed next(State state, const Past& past) const = 0;
  /// Whether this decides alone what may follow, so that the constraints after it are not asked: a given prefix may
  /// break any of them.
  virtual bool decides(const Past& past) const;
  /// The only pieces that may occur in the translation of `source`, in ascending order, `more` among them; empty: any
  /// may. The scores of other pieces are not computed, and probabilities are over these pieces. In one search either
  /// all sentences have a constraint with such a vocabulary or none has; the first one counts.
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
/// Only candidates of the shortlist occur, which must outlive the constraint.
std::shared_ptr<const Constraint> limited_to(const Shortlist& shortlist);
/// None of these pieces occurs; ids in ascending order.
std::shared_ptr<const Constraint> without(std::vector<int32_t> ids);

}  // namespace dragoman
