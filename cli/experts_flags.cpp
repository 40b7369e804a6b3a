#include <algorithm>

#include "cli/train_table.h"

namespace dragoman {

using O = TrainOptions;

std::vector<Flag<O>> experts_flags() {
  static constexpr auto group = "Mixture of experts";
  return {
      {.name = "moe-experts",
       .field = &O::moe_experts,
       .value = "N",
       .group = group,
       .help =
           "feed-forward networks of which each piece takes --moe-top-k, chosen by a router: many parameters at the "
           "cost of a few; 0: one network for all",
       .range = {0, 4096}},
      {.name = "moe-top-k",
       .field = &O::moe_top_k,
       .value = "N",
       .group = group,
       .help = "experts that a piece goes to",
       .range = {1, 4096}},
      {.name = "moe-frequency",
       .field = &O::moe_frequency,
       .value = "N",
       .group = group,
       .help = "the last of every N layers has experts, on both sides; 1: all layers",
       .range = {1, 1000}},
      {.name = "moe-load-loss",
       .field = &O::moe_load_loss,
       .value = "W",
       .group = group,
       .help =
           "weight of the loss that keeps experts equally busy (Fedus et al. 2021); --valid-sets and the cost that is "
           "shown do not count it",
       .range = {0, 100}},
      {.name = "moe-capacity",
       .field = &O::moe_capacity,
       .value = "F",
       .group = group,
       .help = "in training an expert takes F times an even share of the pieces, the rest pass by; 0: no limit, as in "
               "translating and scoring",
       .range = {0, 1000}},
  };
}

void check_experts(const TrainOptions& o, const Given& given) {
  for (const char* option : {"moe-top-k", "moe-frequency", "moe-load-loss", "moe-capacity"})
    require(o.moe_experts > 0 || !given.changed(option), "--{} is for --moe-experts, which is not given", option);
  if (o.moe_experts == 0) return;
  if (o.moe_experts == 1)
    throw Error("--moe-experts 1 leaves the router nothing to choose", "2 or more; without it a layer has one network");
  require(o.moe_top_k <= o.moe_experts, "--moe-top-k {} is more than there are --moe-experts, {}", o.moe_top_k,
          o.moe_experts);
  const int deepest = std::max(o.encoder_layers, o.decoder_layers);
  require(o.moe_frequency <= deepest,
          "--moe-frequency {} gives experts to layer {} and no other, but the model has {} of them", o.moe_frequency,
          o.moe_frequency, deepest);
}

}  // namespace dragoman
