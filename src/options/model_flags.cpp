#include <algorithm>

#include "base/error.h"
#include "options/config_values.h"
#include "options/train_table.h"

namespace dragoman {
namespace {

using O = TrainOptions;
using Flags = std::vector<Flag<O>>;

Field<O> field_of(const ConfigField& field) {
  return {[&field](O& o, const Strings& words, Bounds bounds) { read_words(field.member(o), words, bounds); },
          [&field](const O& o) { return show_words(field, o); }, choices_of(field), is_boolean(field), is_list(field)};
}

// The fields of a configuration that have this heading in --help.
Flags config_flags(std::string_view group) {
  Flags flags;
  for (const ConfigField& row : model_config_fields())
    if (row.group == group)
      flags.push_back({.name = row.option,
                       .field = field_of(row),
                       .value = row.value,
                       .group = row.group,
                       .help = row.help,
                       .range = row.bounds});
  return flags;
}

void insert_after(Flags& flags, std::string_view name, Flag<O> flag) {
  const auto found = std::ranges::find(flags, name, &Flag<O>::name);
  invariant(found != flags.end(), "there must be an option after which to insert");
  flag.group = found->group;
  flags.insert(found + 1, std::move(flag));
}

// A switch in configuration files, also Marian's.
Field<O> depth_scaling_field() {
  return {[](O& o, const Strings& words, Bounds bounds) {
            if (const auto on = switch_word(words.at(0)))
              o.depth_scaling = *on ? DepthScaling::always : DepthScaling::never;
            else
              read_words(o.depth_scaling, words, bounds);
          },
          [](const O& o) { return show_words(o.depth_scaling); }, choices_of<DepthScaling>(), false};
}

}  // namespace

Flags model_flags() {
  Flags flags = config_flags("Model");
  flags.insert(
      flags.begin(),
      {.name = "task",
       .field = &O::task,
       .value = "NAME",
       .group = "Model",
       .help = "defaults, which other options override: transformer-base and transformer-big as in Vaswani et al. "
               "2017; transformer-tiny, for a small corpus (4 + 4 layers, size 128, 4 heads, dropout 0.3); "
               "transformer-tiny11, fast (6 + 2 layers, size 256, 8 heads, recurrent decoder)"});
  return flags;
}

Flags transformer_flags() {
  Flags flags = config_flags("Transformer");
  insert_after(flags, "transformer-ffn-activation",
               {.name = "transformer-preprocess",
                .field = &O::preprocess,
                .value = "OPS",
                .help = "n: normalise before each sublayer (pre-norm); requires --transformer-postprocess da"});
  insert_after(flags, "transformer-preprocess",
               {.name = "transformer-postprocess",
                .field = &O::postprocess,
                .value = "OPS",
                .help = "dan: dropout, residual addition and norm after each sublayer (post-norm, as in the paper); "
                        "da: without the norm, for pre-norm"});
  insert_after(flags, "transformer-norm",
               {.name = "transformer-depth-scaling",
                .field = depth_scaling_field(),
                .value = "NAME",
                .help = "divide the initial weights of layer l by the square root of l (Zhang et al. 2019); auto: for "
                        "post-norm models, which learn much faster with it",
                .implicit = "true"});
  return flags;
}

Flags position_flags() {
  Flags flags = config_flags("Positions");
  insert_after(flags, "transformer-positions",
               {.name = "transformer-train-position-embeddings",
                .field = &O::learned_positions,
                .help = "same as --transformer-positions learned"});
  return flags;
}

Flags attention_flags() { return config_flags("Attention"); }

Flags autoregression_flags() {
  Flags flags = config_flags("Decoder");
  insert_after(
      flags, "transformer-decoder-autoreg",
      {.name = "dec-cell",
       .field = &O::dec_cell,
       .value = "NAME",
       .help = "recurrent unit: ssru for --transformer-decoder-autoreg rnn, gru (auto) or lstm for --type s2s"});
  insert_after(flags, "transformer-aan-activation",
               {.name = "transformer-aan-nogate",
                .field = &O::no_average_gates,
                .help = "average attention: no gates between a token and the average"});
  return flags;
}

Flags experts_flags() { return config_flags("Mixture of experts"); }

Flags rnn_flags() {
  Flags flags = config_flags("Recurrent models (--type s2s)");
  insert_after(flags, "encoder-pooling",
               {.name = "sentence-ends",
                .field = &O::sentence_marks,
                .value = "MARK...",
                .help = "--encoder-pooling hierarchical: a source sentence ends after a piece that ends with one of "
                        "these"});
  return flags;
}

Flags dropout_flags() {
  Flags flags = config_flags("Regularisation");
  insert_after(flags, flags.back().name,
               {.name = "label-smoothing",
                .field = &O::label_smoothing,
                .value = "P",
                .help = "share of the target probability that is spread over the whole vocabulary",
                .range = {0, 0.99}});
  return flags;
}

}  // namespace dragoman
