#pragma once
#include <map>
#include <string>
#include <vector>

#include "explain/attention_maps.h"
#include "io/model_file.h"

namespace dragoman {

/// What is made of attention weights: nothing, attention rollout (explain/rollout.h), or their products with their
/// gradients.
enum class AttentionMethod { raw, rollout, gradient };

inline std::span<const EnumName<AttentionMethod>> enum_names(AttentionMethod) {
  static constexpr EnumName<AttentionMethod> names[] = {
      {AttentionMethod::raw, "raw"}, {AttentionMethod::rollout, "rollout"}, {AttentionMethod::gradient, "gradient"}};
  return names;
}

/// Which attentions are shown, and how.
struct AttentionChoice {
  AttentionMethod method = AttentionMethod::raw;
  std::vector<AttentionSite> sites;  // empty: all that the model has
  std::vector<int> layers, heads;    // counted from 0, layers below 0 from the last, which is -1; empty: all
  bool average = false;              // show the mean of these heads in their place
};

/// A sentence pair with what the model looked at while it read and predicted it.
struct Explanation {
  int64_t line = 0;  // of the input, counted from 1
  AttentionMethod method = AttentionMethod::raw;
  std::string missing;                       // why there are no maps; empty: there are
  std::vector<std::string> source;           // S pieces, </s> included
  std::vector<std::string> read, predicted;  // what the decoder read, and what it was to say next: as many
  std::vector<AttentionMap> maps;

  /// Pieces that stand for the rows and columns of a map.
  const std::vector<std::string>& queries(AttentionSite site) const {
    return site == AttentionSite::encoder_self ? source : predicted;
  }
  const std::vector<std::string>& keys(AttentionSite site) const {
    return site == AttentionSite::decoder_self ? read : source;
  }
};

/// Explains pairs one by one. Weights are used both packed (raw weights do not differ from those that translate) and as
/// they are (recorded passes), so the model has both.
class Explainer {
 public:
  /// Error if the model lacks what is chosen; the hint says what it has. All arguments outlive the explainer; `cx` has
  /// no tape.
  Explainer(const Context& cx, Model& model, const Vocabularies& vocabularies, const AttentionChoice& choice);

  /// Memory and time grow with (S + T)² for each head.
  Explanation explain(const IdPair& pair) const;

 private:
  std::vector<AttentionMap> maps_of(const IdPair& pair) const;
  bool chosen(const AttentionMap& map) const;
  void choose_heads(AttentionMap& map) const;

  const Context& cx_;
  Model& model_;
  const Vocabularies& vocabularies_;
  const AttentionChoice choice_;
  std::map<AttentionSite, int> layers_;  // how many each site has
};

}  // namespace dragoman
