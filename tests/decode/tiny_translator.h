#pragma once
#include <gtest/gtest.h>

#include "backend/registry.h"
#include "decode/translator.h"
#include "io/load_model.h"
#include "tests/source_dir.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {

inline const Vocabulary& tiny_vocabulary() {
  static const Vocabulary vocabulary = Vocabulary::load(source_dir() + "/tests/vocab/golden/bpe.spm");
  return vocabulary;
}

/// A Transformer with random weights over that vocabulary of 340 pieces, including bytes: it can produce any text.
struct TinyModel {
  explicit TinyModel(Positions positions = Positions::sinusoidal, int max_positions = 1024,
                     ModelType type = ModelType::transformer)
      : config{.type = type,
               .dim = 16,
               .encoder_layers = 1,
               .decoder_layers = 1,
               .heads = 2,
               .feed_forward = 16,
               .positions = positions,
               .max_positions = max_positions,
               .source_vocabulary = tiny_vocabulary().size(),
               .target_vocabulary = tiny_vocabulary().size()},
        model(make_model(config, backend("cpu"), arena, DType::f32, false)) {
    model->parameters().initialise(11);
    packed = model->parameters().pack();
  }
  void save(const std::string& path) const { save_model(path, config, vocabularies, weights_of(model->parameters())); }

  Arena arena;
  const ModelConfig config;
  const Vocabularies vocabularies{tiny_vocabulary(), tiny_vocabulary()};
  const std::unique_ptr<Model> model;
  PackedWeights packed;
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &packed};
};

/// Expects `run`, which runs a translator on a flow, to write each line before it waits for the next one.
template <class Run>
void expect_lines_written_before_the_next(const Run& run) {
  const std::vector<std::string> lines = {"Where is the castle?", "", "How much is a ticket?", " "};
  size_t read = 0, written = 0, flushed = 0;
  run({.ready = [] { return false; },
       .next =
           [&](std::string& line, bool&) {
             EXPECT_EQ(flushed, read) << "would wait although a line is pending";
             return read < lines.size() && (line = lines[read++], true);
           },
       .write = [&](const auto&, bool) { ++written; },
       .flush = [&] { flushed = written; }});
  EXPECT_EQ(flushed, lines.size());
}

/// SentencePiece ends the process if it runs out of memory while it encodes, so this is a vocabulary without it.
inline void save_with_words(const TinyModel& tiny, const std::string& path) {
  ListedVocabulary words{.special = {.unk = 0, .eos = 1},
                         .pieces = {"<unk>", "</s>", "a", "red", "house", "the", "old", "book", "is", "new"}};
  fill_up(words, tiny_vocabulary().size());
  const Vocabulary vocabulary = Vocabulary::from_list(std::move(words), "words");
  save_model(path, tiny.config, {vocabulary, vocabulary}, weights_of(tiny.model->parameters()));
}

}  // namespace dragoman
