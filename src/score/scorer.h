#pragma once
#include <memory>
#include <span>
#include <vector>

#include "align/model_alignment.h"
#include "data/id_pairs.h"
#include "data/pairs.h"
#include "model/frame.h"
#include "model/model.h"
#include "vocab/vocabulary.h"

namespace dragoman {

/// Encodes lines as ids with special pieces, one pair for each pair of lines; an empty line becomes </s> alone.
/// `given_pieces`: the lines are already pieces, separated by blanks. Runs on all threads.
std::vector<IdPair> encode_pairs(const Vocabulary& source, const Vocabulary& target, const SentenceFrames& frames,
                                 const LinePairs& lines, bool given_pieces);

/// The resources of scoring. There is no tape; with packed weights, a score depends only on its pair, bit for bit.
struct ScoringContext {
  const Backend& backend;
  Arena& arena;
  const PackedWeights& packed;
  const RoundedWeights* rounded = nullptr;            // LoadedModel::rounded
  std::shared_ptr<const SentenceFrames> frames = {};  // of the pairs' languages; null: those of the model
};

/// log p of each target piece of each pair, end of sentence included, given the source and the pieces before it; pairs
/// stay in the given order and are computed in the batches of for_each_batch. With `alignments`, also computes the
/// alignments of the pairs.
std::vector<std::vector<float>> score_pieces(const ScoringContext& context, Model& model, std::span<const IdPair> pairs,
                                             int64_t batch_words, std::vector<Alignment>* alignments = nullptr);

/// log p(target | source) of each pair, the sum over its target pieces.
double log_prob_of(std::span<const float> piece_scores);
std::vector<double> score_pairs(const ScoringContext& context, Model& model, std::span<const IdPair> pairs,
                                int64_t batch_words);

}  // namespace dragoman
