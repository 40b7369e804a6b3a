#include "cli/train_table.h"

namespace dragoman {

using O = TrainOptions;

std::vector<Flag<O>> model_flags() {
  return {
      {.name = "task",
       .field = &O::task,
       .value = "NAME",
       .group = "Model",
       .help =
           "a set of defaults, which all other options override: base and big as in Vaswani et al. 2017, tiny for a "
           "small corpus (4 + 4 layers, 128 columns, 4 heads, dropout 0.3), tiny11 for fast translation (6 + 2 layers, "
           "256 columns, 8 heads, the decoder recurrent)"},
      {.name = "type",
       .field = &O::type,
       .value = "NAME",
       .group = "Model",
       .help =
           "the kind of model: transformer; decoder-only: one stack that reads source and target as one sequence; or "
           "s2s: recurrent, with attention or without"},
      {.name = "dim-emb",
       .field = &O::dim,
       .value = "N",
       .group = "Model",
       .help = "columns of embeddings and of every layer's output",
       .range = {2, 65536}},
      {.name = "enc-depth",
       .field = &O::encoder_layers,
       .value = "N",
       .group = "Model",
       .help = "encoder layers; 0 for models that have no encoder",
       .range = {0, 1000}},
      {.name = "dec-depth",
       .field = &O::decoder_layers,
       .value = "N",
       .group = "Model",
       .help = "decoder layers",
       .range = {1, 1000}},
      {.name = "copy",
       .field = &O::copies,
       .group = "Model",
       .help =
           "pieces of the source may be copied as well as generated (a pointer-generator, See et al. 2017): for names, "
           "numbers and code; needs a joint vocabulary"},
      {.name = "learn-source",
       .field = &O::learns_source,
       .group = "Model",
       .help = "decoder-only: train on the source's pieces too, as a language model of both sides"},
      {.name = "tied-embeddings-all",
       .field = &O::tied_embeddings_all,
       .group = "Model",
       .help = "one matrix for source embedding, target embedding and output layer; false unless the vocabulary is "
               "joint, or when one of the next two is given"},
      {.name = "tied-embeddings",
       .field = &O::tied_embeddings,
       .group = "Model",
       .help = "one matrix for target embedding and output layer"},
      {.name = "tied-embeddings-src",
       .field = &O::tied_embeddings_src,
       .group = "Model",
       .help = "one matrix for source and target embedding"},
  };
}

std::vector<Flag<O>> transformer_flags() {
  static constexpr auto group = "Transformer";
  return {
      {.name = "transformer-heads",
       .field = &O::heads,
       .value = "N",
       .group = group,
       .help = "attention heads of every layer",
       .range = {1, 1024}},
      {.name = "transformer-dim-key",
       .field = &O::key_size,
       .value = "N",
       .group = group,
       .help = "columns of a head's queries and keys; 0: --dim-emb / heads",
       .range = {0, 65536}},
      {.name = "transformer-dim-value",
       .field = &O::value_size,
       .value = "N",
       .group = group,
       .help = "columns of a head's values; 0: as its keys",
       .range = {0, 65536}},
      {.name = "transformer-dim-ffn",
       .field = &O::feed_forward,
       .value = "N",
       .group = group,
       .help = "inner columns of feed-forward layers",
       .range = {1, 1'000'000}},
      {.name = "transformer-ffn-activation",
       .field = &O::activation,
       .value = "NAME",
       .group = group,
       .help = "what feed-forward layers apply to their inner columns"},
      {.name = "transformer-preprocess",
       .field = &O::preprocess,
       .value = "OPS",
       .group = group,
       .help = "n, together with --transformer-postprocess da, normalises before each sublayer (pre-norm)"},
      {.name = "transformer-postprocess",
       .field = &O::postprocess,
       .value = "OPS",
       .group = group,
       .help = "dan: dropout, addition and norm after each sublayer (post-norm, as the paper); da: see above"},
      {.name = "transformer-norm",
       .field = &O::norm_kind,
       .value = "NAME",
       .group = group,
       .help =
           "what norms do: layer: mean 0, variance 1; rms: a mean square of 1, nothing subtracted or added (Zhang & "
           "Sennrich 2019); batch: mean 0, variance 1 of each column over the words of a batch (Ioffe & Szegedy 2015), "
           "for comparison: see docs/attention.md"},
      {.name = "transformer-depth-scaling",
       .field = &O::depth_scaling,
       .group = group,
       .help = "divide the initial weights of layer l by the root of l (Zhang et al. 2019): for deep models"},
  };
}

std::vector<Flag<O>> position_flags() {
  static constexpr auto group = "Positions";
  return {
      {.name = "transformer-positions",
       .field = &O::positions,
       .value = "KIND",
       .group = group,
       .help =
           "how a model knows the order of words: sines and then cosines in the order of Marian and tensor2tensor with "
           "the paper's wavelengths, both interleaved as the paper writes them, or learned embeddings; in "
           "self-attention: vectors of distances (relative), turned queries and keys (rotary), or scores that fall "
           "with the distance (alibi); or none"},
      {.name = "transformer-train-position-embeddings",
       .field = &O::learned_positions,
       .group = group,
       .help = "the same as --transformer-positions learned"},
      {.name = "transformer-max-positions",
       .field = &O::max_positions,
       .value = "N",
       .group = group,
       .help = "learned position embeddings and location scores: pieces of the longest sentence",
       .range = {1, 1'000'000}},
      {.name = "transformer-relative-positions",
       .field = &O::relative_positions,
       .value = "N",
       .group = group,
       .help = "relative positions: distances with a vector of their own on each side; beyond, the last one's",
       .range = {1, 10'000}},
  };
}

std::vector<Flag<O>> attention_flags() {
  static constexpr auto group = "Attention";
  return {
      {.name = "attention-score",
       .field = &O::attention_score,
       .value = "NAME",
       .group = group,
       .help = "how a query and a key make a score: see docs/attention.md. bilinear and reduced-rank need "
               "--attention-projections none"},
      {.name = "attention-projections",
       .field = &O::attention_projections,
       .value = "NAME",
       .group = group,
       .help = "which roles get a projection of their own: each; one for what is key and value at once; or none"},
      {.name = "attention-norm",
       .field = &O::attention_norm,
       .value = "NAME",
       .group = group,
       .help = "norm of queries and keys head by head before they meet (per-head norm, query-key normalisation); for "
               "scores that are dot products"},
      {.name = "attention-rank",
       .field = &O::attention_rank,
       .value = "N",
       .group = group,
       .help = "reduced-rank: columns of a head's queries and keys",
       .range = {1, 65536}},
      {.name = "attention-window",
       .field = &O::attention_window,
       .value = "N",
       .group = group,
       .help = "self-attention sees so many pieces on each side; 0: all",
       .range = {0, 1'000'000}},
      {.name = "attention-local",
       .field = &O::attention_local,
       .value = "N",
       .group = group,
       .help = "a target piece sees so many source pieces on each side of its own place (Luong's local-m); 0: all",
       .range = {0, 1'000'000}},
      {.name = "attention-memory",
       .field = &O::attention_memory,
       .value = "NAME",
       .group = group,
       .help =
           "decoder-only, for long texts: full, or local-compressed: in turn, layers whose pieces see their block of "
           "the text, and layers that see all of it with several keys made into one (Liu et al. 2018)"},
      {.name = "attention-block",
       .field = &O::attention_block,
       .value = "N",
       .group = group,
       .help = "local-compressed: pieces of a block",
       .range = {1, 1'000'000}},
      {.name = "attention-stride",
       .field = &O::attention_stride,
       .value = "N",
       .group = group,
       .help = "local-compressed: keys, and values, of which a convolution makes one",
       .range = {2, 1000}},
      {.name = "attention-local-center",
       .field = &O::attention_local_center,
       .value = "NAME",
       .group = group,
       .help = "--type s2s: the middle of what --attention-local sees: the target piece's own place, or one that the "
               "decoder's state predicts, with a Gaussian around it (Luong's local-p)"},
      {.name = "attention-choice",
       .field = &O::attention_choice,
       .value = "NAME",
       .group = group,
       .help =
           "--type s2s: what a target piece takes of the source: the mean by the weights (soft), or one piece (hard), "
           "drawn by the weights in training and the likeliest in translation (Xu et al. 2015)"},
      {.name = "attention-reward",
       .field = &O::attention_reward,
       .value = "X",
       .group = group,
       .help =
           "--attention-choice hard: how much the weights learn from what came of a draw, beside the rest of the model",
       .range = {0, 1000}},
      {.name = "attention-entropy",
       .field = &O::attention_entropy,
       .value = "X",
       .group = group,
       .help = "--attention-choice hard: how much the entropy of the weights is worth, so that draws go on trying",
       .range = {0, 1000}},
  };
}

std::vector<Flag<O>> autoregression_flags() {
  static constexpr auto group = "Decoder";
  return {
      {.name = "transformer-decoder-autoreg",
       .field = &O::autoregression,
       .value = "NAME",
       .group = group,
       .help = "how the decoder looks back at its own output: by attention; by the average of all of it, "
               "gated; or by a recurrent unit, the fastest in translating: see docs/attention.md"},
      {.name = "dec-cell",
       .field = &O::dec_cell,
       .value = "NAME",
       .group = group,
       .help = "the recurrent unit: ssru for --transformer-decoder-autoreg rnn, gru (auto) or lstm for --type s2s"},
      {.name = "transformer-dim-aan",
       .field = &O::average_feed_forward,
       .value = "N",
       .group = group,
       .help = "average attention: inner columns of its feed-forward layer",
       .range = {1, 1'000'000}},
      {.name = "transformer-aan-activation",
       .field = &O::average_activation,
       .value = "NAME",
       .group = group,
       .help = "average attention: what that layer applies to its inner columns"},
      {.name = "transformer-aan-nogate",
       .field = &O::no_average_gates,
       .group = group,
       .help = "average attention: no gates between a piece and the average"},
  };
}

std::vector<Flag<O>> dropout_flags() {
  static constexpr auto group = "Regularisation";
  return {
      {.name = "transformer-dropout",
       .field = &O::dropout,
       .value = "P",
       .group = group,
       .help = "dropout of each sublayer's output, and of embeddings",
       .range = {0, 0.99}},
      {.name = "transformer-dropout-embedding",
       .field = &O::dropout_embedding,
       .value = "P",
       .group = group,
       .help = "dropout of embeddings where it is to differ; -1: as --transformer-dropout",
       .range = {-1, 0.99}},
      {.name = "transformer-dropout-attention",
       .field = &O::dropout_attention,
       .value = "P",
       .group = group,
       .help = "dropout of attention weights",
       .range = {0, 0.99}},
      {.name = "transformer-dropout-ffn",
       .field = &O::dropout_activation,
       .value = "P",
       .group = group,
       .help = "dropout inside feed-forward layers",
       .range = {0, 0.99}},
      {.name = "label-smoothing",
       .field = &O::label_smoothing,
       .value = "P",
       .group = group,
       .help = "share of the probability that the loss wants spread over the whole vocabulary",
       .range = {0, 0.99}},
  };
}

}  // namespace dragoman
