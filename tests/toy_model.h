#pragma once
#include <string>

#include "backend/registry.h"
#include "io/load_model.h"
#include "tests/source_dir.h"

namespace dragoman {

/// A model small enough for any test: 340 pieces, one layer a side, random weights.
inline Vocabulary toy_vocabulary(const std::string& type = "bpe") {
  return Vocabulary::load(source_dir() + "/tests/vocab/golden/" + type + ".spm");
}

inline ModelConfig toy_config() {
  ModelConfig config;
  config.dim = 16, config.heads = 2, config.feed_forward = 24;
  config.encoder_layers = config.decoder_layers = 1;
  config.source_vocabulary = config.target_vocabulary = toy_vocabulary().size();
  return config;
}

/// Its weights are drawn from `seed`.
inline std::unique_ptr<Model> toy_model(Arena& arena, uint64_t seed, const ModelConfig& config = toy_config()) {
  auto model = make_model(config, backend("cpu"), arena, DType::f32, false);
  model->parameters().initialise(seed);
  return model;
}

/// Writes one to a file and gives its path back.
inline std::string save_toy_model(const std::string& path, uint64_t seed, const ModelConfig& config = toy_config(),
                                  const Vocabulary& vocabulary = toy_vocabulary()) {
  Arena arena;
  save_model(path, config, {vocabulary, vocabulary}, weights_of(toy_model(arena, seed, config)->parameters()));
  return path;
}

}  // namespace dragoman
