#pragma once
#include <vector>

#include "base/enum_names.h"

namespace dragoman {

/// Encoder self-attention over the source, decoder self-attention, and cross-attention from decoder to source.
enum class AttentionSite { encoder_self, decoder_self, cross };

inline std::span<const EnumName<AttentionSite>> enum_names(AttentionSite) {
  static constexpr EnumName<AttentionSite> names[] = {{AttentionSite::encoder_self, "encoder-self"},
                                                      {AttentionSite::decoder_self, "decoder-self"},
                                                      {AttentionSite::cross, "cross"}};
  return names;
}

/// How attention weights are processed: shown unchanged, as attention rollout (explain/rollout.h), or multiplied by
/// their gradients.
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
  std::vector<int> layers, heads;    // counted from 0; negative layers from the end, -1 being the last; empty: all
  bool average = false;              // show the mean of these heads instead
};

}  // namespace dragoman
