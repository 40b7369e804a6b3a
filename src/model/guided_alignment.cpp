#include "model/guided_alignment.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"

namespace dragoman {

std::vector<AttentionLink> attention_links(const Batch& batch) {
  std::vector<AttentionLink> links;
  for (size_t s = 0; s < batch.links.size(); ++s) {
    const int64_t first_source = batch.source.spans[int(s)].begin, first_target = batch.target.spans[int(s)].begin;
    std::map<int64_t, int> count;  // links of each target token
    for (const TokenLink& link : batch.links[s]) ++count[link.target];
    const double of_sentence = batch.links_weight * double(batch.weights.empty() ? 1.f : batch.weights[s]);
    for (const auto& [source, target] : batch.links[s])
      links.push_back(
          {int32_t(first_target + target), int32_t(first_source + source), float(of_sentence / count[target])});
  }
  return links;
}

ModelConfig with_guided_alignment(ModelConfig config) {
  if (config.type == ModelType::decoder_only)
    throw Error("--guided-alignment trains cross-attention, which --type decoder-only does not have",
                "leave it out, or train a model of another type");
  if (config.type == ModelType::s2s && config.rnn.decoder.attention == RnnAttention::none)
    throw Error("--guided-alignment contradicts --rnn-attention none: there is no attention to learn links",
                "leave out one of them");
  if (config.attention.local > 0 && config.attention.local_center == LocalCenter::predictive)
    throw Error(
        "--guided-alignment contradicts --attention-local-center predictive, whose predicted window links do not teach",
        "leave out one of them");
  config.alignment.heads = 1;
  return config;
}

}  // namespace dragoman
