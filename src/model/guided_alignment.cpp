#include "model/guided_alignment.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "nn/scores/score_kind.h"

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
  if (config.type != ModelType::transformer)
    throw Error(fmt::format("--guided-alignment trains the cross-attention of --type transformer, not of {}",
                            name_of(config.type)),
                "leave it out, or train a Transformer");
  require(score_kind(config.attention.score).kernel != Score::additive,
          "--guided-alignment is for attention scores that are dot products, not for --attention-score {}",
          name_of(config.attention.score));
  config.alignment.heads = 1;
  return config;
}

}  // namespace dragoman
