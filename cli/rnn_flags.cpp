#include "base/error.h"
#include "cli/train_table.h"

namespace dragoman {

using O = TrainOptions;

std::vector<Flag<O>> rnn_flags() {
  static constexpr auto group = "Recurrent models (--type s2s)";
  return {
      {.name = "dim-rnn",
       .field = &O::rnn_dim,
       .value = "N",
       .group = group,
       .help = "columns of states; of a bidirectional encoder's, half in each direction (Marian: all in each)",
       .range = {2, 65536}},
      {.name = "enc-type",
       .field = &O::encoder_type,
       .value = "NAME",
       .group = group,
       .help = "the layers of the encoder: recurrent, reading from both sides or from the beginning only, or gated "
               "convolutions (Gehring et al. 2017)"},
      {.name = "enc-conv-width",
       .field = &O::encoder_kernel,
       .value = "N",
       .group = group,
       .help = "--enc-type conv: words that a layer sees together",
       .range = {1, 1000}},
      {.name = "enc-cell",
       .field = &O::encoder_cell,
       .value = "NAME",
       .group = group,
       .help = "the recurrent unit of the encoder"},
      {.name = "rnn-attention",
       .field = &O::rnn_attention,
       .value = "NAME",
       .group = group,
       .help = "when the decoder attends: before each step with the state it has (Bahdanau et al. 2015), after it with "
               "the new one, fed to the next (Luong et al. 2015), or never"},
      {.name = "encoder-pooling",
       .field = &O::encoder_pooling,
       .value = "NAME",
       .group = group,
       .help =
           "what the decoder begins with, of all states of the encoder: the last of each direction, their sum, their "
           "mean (mean, but last with --rnn-attention none), their average by attention to a learned query, or that "
           "in two steps, for lines of many sentences: of words to sentences, of sentences to the line (Yang et al. "
           "2016)"},
      {.name = "sentence-ends",
       .field = &O::sentence_marks,
       .value = "MARK...",
       .group = group,
       .help = "--encoder-pooling hierarchical: a source sentence ends after a piece that ends with one of these"},
      {.name = "reverse-source",
       .field = &O::reverse_source,
       .group = group,
       .help =
           "read the source from the last word to the first (Sutskever et al. 2014), with --enc-type unidirectional"},
      {.name = "layer-normalization",
       .field = &O::rnn_norm,
       .group = group,
       .help = "layer normalisation of the products of each cell"},
      {.name = "dropout-rnn",
       .field = &O::dropout_rnn,
       .value = "P",
       .group = group,
       .help = "dropout of embeddings, between layers, and of what the output layer reads",
       .range = {0, 0.99}},
  };
}

namespace {

// Options that do something in one kind of model alone.
constexpr const char* of_transformers[] = {"transformer-dim-ffn",
                                           "transformer-ffn-activation",
                                           "transformer-preprocess",
                                           "transformer-postprocess",
                                           "transformer-norm",
                                           "transformer-depth-scaling",
                                           "transformer-train-position-embeddings",
                                           "transformer-decoder-autoreg",
                                           "transformer-dropout",
                                           "transformer-dropout-ffn",
                                           "moe-experts",
                                           "attention-window"};
constexpr const char* of_recurrent[] = {"dim-rnn",
                                        "enc-type",
                                        "enc-conv-width",
                                        "enc-cell",
                                        "rnn-attention",
                                        "attention-local-center",
                                        "attention-choice",
                                        "attention-reward",
                                        "attention-entropy",
                                        "encoder-pooling",
                                        "sentence-ends",
                                        "reverse-source",
                                        "layer-normalization",
                                        "dropout-rnn"};

void refuse(std::span<const char* const> options, const Given& given, std::string_view owner, std::string_view type) {
  for (const char* option : options)
    require(!given.changed(option), "--{} is for --type {}, not for {}", option, owner, type);
}

// What nobody asked for is as the papers have it: one layer, one head, attention without projections.
void set_defaults(TrainOptions& o, const Given& given) {
  const auto usual = [&](const char* option, auto& member, auto value) {
    if (!given(option)) member = value;
  };
  const bool luong = o.rnn_attention == RnnAttention::luong, none = o.rnn_attention == RnnAttention::none;
  usual("enc-depth", o.encoder_layers, 1);
  usual("dec-depth", o.decoder_layers, 1);
  usual("transformer-heads", o.heads, 1);
  usual("attention-projections", o.attention_projections, Projections::none);
  usual("attention-score", o.attention_score, luong ? AttentionScore::bilinear : AttentionScore::additive);
  if (o.encoder_type != EncoderType::convolutional) o.positions = Positions::none;  // order is in the states
  usual("encoder-pooling", o.encoder_pooling, none ? EncoderPooling::last : EncoderPooling::mean);
}

void check_encoder(const TrainOptions& o, const Given& given) {
  const bool conv = o.encoder_type == EncoderType::convolutional;
  require(conv || !given.changed("enc-conv-width"), "--enc-conv-width is for --enc-type conv, not for {}",
          name_of(o.encoder_type));
  require(!conv || !given.changed("enc-cell"), "--enc-cell is for recurrent encoders, --enc-type conv has no cells");
  require(!conv || !o.reverse_source, "--reverse-source is for --enc-type unidirectional, conv reads all at once");
  const bool both = o.encoder_type == EncoderType::bidirectional;
  require(!both || o.rnn_dim % 2 == 0,
          "--dim-rnn {} is odd, but --enc-type bidirectional has half of the columns in each direction", o.rnn_dim);
  if (both && o.reverse_source)
    throw Error("--reverse-source changes nothing where --enc-type bidirectional reads from both sides",
                "leave it out, or give --enc-type unidirectional");
}

void check_pooling(const TrainOptions& o, const Given& given) {
  const bool hierarchical = o.encoder_pooling == EncoderPooling::hierarchical;
  require(hierarchical || !given.changed("sentence-ends"),
          "--sentence-ends is for --encoder-pooling hierarchical, not for {}", name_of(o.encoder_pooling));
  if (!hierarchical) return;
  require(o.encoder_type != EncoderType::convolutional,
          "--encoder-pooling hierarchical reads sentences by recurrent layers, --enc-type conv has none");
  require(!o.reverse_source,
          "--reverse-source brings the first words near the decoder, which --encoder-pooling hierarchical does not "
          "read them from");
}

void check_hard_attention(const TrainOptions& o, const Given& given) {
  if (o.attention_choice == AttentionKind::soft) {
    for (const char* option : {"attention-reward", "attention-entropy"})
      require(!given.changed(option), "--{} is for --attention-choice hard, not for soft", option);
    return;
  }
  require(o.heads == 1,
          "--attention-choice hard looks at one source piece, so --transformer-heads {} makes no sense, expected 1",
          o.heads);
  require(o.attention_local == 0,
          "--attention-choice hard draws from all of the source, --attention-local {} is for soft", o.attention_local);
  require(o.dropout_attention == 0,
          "--attention-choice hard has no mean of which --transformer-dropout-attention {} could drop weights",
          o.dropout_attention);
}

void check_attention(const TrainOptions& o, const Given& given) {
  const auto needs_attention = [&](const char* option, bool asked) {
    require(o.rnn_attention != RnnAttention::none || !asked,
            "--{} is for models that attend, --rnn-attention none does not", option);
  };
  for (const char* option : {"attention-norm", "attention-local", "attention-local-center", "attention-choice"})
    needs_attention(option, given.changed(option));
  needs_attention("attention-score", o.attention_score != AttentionScore::additive);
  needs_attention("attention-projections", o.attention_projections != Projections::none);
  needs_attention("transformer-heads", o.heads != 1);
  check_hard_attention(o, given);
  if (o.attention_local_center != LocalCenter::predictive) return;
  if (o.attention_local == 0)
    throw Error("--attention-local-center predictive is the middle of a window, but --attention-local is 0",
                "say how many source pieces belong to each side of it, --attention-local 10 in the paper");
  require(o.heads == 1,
          "--attention-local-center predictive predicts one place for each word, so --transformer-heads {} makes no "
          "sense, expected 1",
          o.heads);
}

}  // namespace

void check_rnn(TrainOptions& o, const Given& given) {
  if (o.type != "s2s") {
    refuse(of_recurrent, given, "s2s", o.type);
    require(o.dec_cell == DecoderCell::automatic || o.dec_cell == DecoderCell::ssru,
            "--dec-cell {} is for --type s2s; --transformer-decoder-autoreg rnn has ssru only", name_of(o.dec_cell));
    return;
  }
  refuse(of_transformers, given, "transformer", o.type);
  require(o.positions == Positions::none || !given.changed("transformer-positions"),
          "--transformer-positions is for --type transformer, not for {}", o.type);
  require(o.dec_cell != DecoderCell::ssru,
          "--dec-cell ssru is for --transformer-decoder-autoreg rnn, --type s2s has gru and lstm");
  o.decoder_cell = o.dec_cell == DecoderCell::lstm ? Cell::lstm : Cell::gru;
  set_defaults(o, given);
  check_attention(o, given);
  check_encoder(o, given);
  check_pooling(o, given);
}

}  // namespace dragoman
