#pragma once
#include <gmock/gmock.h>

#include "data/corpus.h"
#include "tests/temporary_folder.h"
#include "vocab/training.h"

namespace dragoman {

/// One small vocabulary, made once. With given pieces every word of a line is one id, known or not.
class CorpusTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TemporaryFolder files;
    std::string text;
    for (int i = 0; i < 200; ++i)
      text += fmt::format("the {} small houses stand near the old river\na house {}\n", i, i);
    train_vocabulary({.inputs = {files.make("text", text)}, .model = files / "model", .size = 320});
    vocabulary = std::make_unique<Vocabulary>(Vocabulary::load(files / "model"));
  }

  CorpusFiles pair(const std::string& source, const std::string& target) const {
    return {.texts = {{{files.make("source", source), files.make("target", target)}}},
            .vocabularies = {*vocabulary, *vocabulary},
            .given_pieces = true};
  }

  CorpusFiles sampled_pair(uint64_t seed) const {
    std::string text;
    for (int i = 0; i < 2500; ++i) text += "the " + std::to_string(i) + " small houses stand near the old river\n";
    CorpusFiles sampled = pair(text, text);
    sampled.given_pieces = false;
    sampled.alphas = {0.5, 0.5};
    sampled.seed = seed;
    return sampled;
  }

  static std::string text_of(std::span<const int32_t> sentence) {
    return vocabulary->decode(sentence.first(sentence.size() - 1));
  }

  static std::vector<int32_t> lines_of(const Corpus& corpus) {
    std::vector<int32_t> lines;
    for (int64_t i = 0; i < corpus.size(); ++i) lines.push_back(corpus.pairs[i].line);
    return lines;
  }

  // Of all sentences, one side after the other.
  static std::array<std::vector<int32_t>, 2> ids_of(const Corpus& corpus) {
    std::array<std::vector<int32_t>, 2> ids;
    for (int64_t i = 0; i < corpus.size(); ++i) {
      const auto pair = corpus.pairs[i];
      ids[0].insert(ids[0].end(), pair.source.begin(), pair.source.end());
      ids[1].insert(ids[1].end(), pair.target.begin(), pair.target.end());
    }
    return ids;
  }

  TemporaryFolder files;
  static inline std::unique_ptr<Vocabulary> vocabulary;
};

}  // namespace dragoman
