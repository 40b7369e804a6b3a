#pragma once
#include <gtest/gtest.h>

#include "model/batch.h"
#include "model/config.h"

namespace dragoman {

/// A kind of model that attention_family_test.cpp tries all its tests on.
struct Variant {
  const char* name;
  Positions positions = Positions::sinusoidal;
  AttentionScore score = AttentionScore::scaled_dot;
  Projections projections = Projections::query_key_value;
  int window = 0, local = 0;
  ModelType type = ModelType::transformer;
  Autoregression autoregression = Autoregression::self_attention;
  bool average_gates = true;
  RnnAttention rnn_attention = RnnAttention::bahdanau;
  Cell cell = Cell::gru;
  EncoderType encoder_type = EncoderType::bidirectional;
  EncoderPooling pooling = EncoderPooling::mean;
  bool reverse_source = false, rnn_norm = false;
  NormKind norm_kind = NormKind::layer;
  HeadNorm head_norm = HeadNorm::none;
  int experts = 0, experts_of_a_row = 2;
  AttentionMemory memory = AttentionMemory::full;
  int block = 4, stride = 3;
  bool copies = false;
  LocalCenter center = LocalCenter::monotonic;
  AttentionKind choice = AttentionKind::soft;
  DecoderStart start = DecoderStart::bos;
  void (*also)(ModelConfig&) = nullptr;  // other fields

  bool alone() const { return type == ModelType::decoder_only; }
  bool recurrent() const { return type == ModelType::s2s; }
  ModelConfig config() const {
    ModelConfig c;
    c.type = type;
    c.dim = 8, c.encoder_layers = c.decoder_layers = 2, c.heads = 2, c.feed_forward = 12;
    c.dropout.sublayer = 0;
    c.source_vocabulary = c.target_vocabulary = 11;
    c.positions = positions;
    c.relative_positions = 2;
    c.max_positions = alone() ? 20 : 9;
    c.attention.score = score;
    c.attention.projections = projections;
    c.attention.rank = 3;
    c.attention.window = window;
    c.attention.local = local;
    c.autoregression = autoregression;
    c.average.feed_forward = 7;
    c.average.gates = average_gates;
    c.rnn.dim = projections == Projections::none && score == AttentionScore::dot ? 8 : 10;
    c.rnn.encoder.cell = cell, c.rnn.decoder.cell = cell == Cell::gru && rnn_norm ? Cell::lstm : cell;
    c.rnn.decoder.attention = rnn_attention, c.rnn.encoder.type = encoder_type, c.rnn.encoder.pooling = pooling;
    c.rnn.encoder.reverse = reverse_source, c.rnn.norm = rnn_norm;
    if (pooling == EncoderPooling::hierarchical) c.rnn.encoder.sentence_ends = {5, 6};
    c.dropout.rnn = 0;
    c.norm_kind = norm_kind;
    c.attention.norm = head_norm;
    c.attention.memory = memory, c.attention.block = block, c.attention.stride = stride;
    c.experts.count = experts, c.experts.top_k = experts_of_a_row;
    c.experts.load_loss = 0;  // is no part of what the model says its loss is
    c.copies = copies;
    c.attention.local_center = center;
    c.attention.choice = choice;
    c.decoder_start = start;
    if (also) also(c);
    if (center == LocalCenter::predictive || choice == AttentionKind::hard) c.heads = 1;
    return c;
  }
};
inline void PrintTo(const Variant& v, std::ostream* out) { *out << v.name; }

/// Three pairs, one of them longer than all windows and learned distances.
inline Batch small_batch() {
  const auto ids = [](const std::vector<int32_t>& lengths, int32_t step) {
    PackedIds packed{{}, Spans::of_lengths(lengths)};
    for (int32_t i = 0; i < packed.spans.rows(); ++i) packed.ids.push_back(3 + i * step % 8);
    return packed;
  };
  return {ids({4, 1, 7}, 3), ids({3, 6, 2}, 5), {0, 1, 2}};
}

class AttentionFamily : public testing::TestWithParam<Variant> {};

}  // namespace dragoman
