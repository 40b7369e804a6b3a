#pragma once
#include <map>
#include <string>
#include <vector>

#include "explain/attention_maps.h"
#include "io/model_file.h"

namespace dragoman {

/// A sentence pair with the model's attention in a forced pass over it.
struct Explanation {
  int64_t line = 0;  // of the input, counted from 1
  AttentionMethod method = AttentionMethod::raw;
  std::string missing;                       // why there are no maps; empty if there are
  std::vector<std::string> source;           // S pieces, </s> included
  std::vector<std::string> read, predicted;  // decoder inputs and the tokens to predict, equally many
  std::vector<AttentionMap> maps;

  /// The tokens that label the rows and columns of a map.
  const std::vector<std::string>& queries(AttentionSite site) const {
    return site == AttentionSite::encoder_self ? source : predicted;
  }
  const std::vector<std::string>& keys(AttentionSite site) const {
    return site == AttentionSite::decoder_self ? read : source;
  }
};

/// Explains pairs one by one. The model needs both packed weights (so that raw attention equals that of translation)
/// and unpacked ones (for passes recorded on a tape).
class Explainer {
 public:
  /// Error if the model lacks a chosen attention; the hint lists those that it has. All arguments must outlive the
  /// explainer; `cx` has no tape.
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
  std::map<AttentionSite, int> layers_;  // number of layers per site
};

}  // namespace dragoman
