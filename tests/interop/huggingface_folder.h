#pragma once
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "decode/beam_search.h"
#include "interop/open_model.h"
#include "tests/interop/golden.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {

inline std::string sentencepiece() { return read_file(source_dir() + "/tests/vocab/golden/bpe.spm"); }

/// The two best of four beams, as generate() finds them.
inline void expect_generated(const ModelFile& file, const std::string& searches) {
  Arena arena;
  const LoadedModel loaded = load_model(file, backend("cpu"), arena);
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
  std::istringstream text(searches);
  for (std::string stops, source, scores[2], ids[2];
       std::getline(text, stops, '\t') && std::getline(text, source, '\t') && std::getline(text, scores[0], '\t') &&
       std::getline(text, ids[0], '\t') && std::getline(text, scores[1], '\t') && std::getline(text, ids[1]);) {
    const std::vector<int32_t> pieces = numbers(source);
    const SearchOptions options{.beam_size = 4,
                                .rule = stops == "True" ? SearchRule::huggingface_early : SearchRule::huggingface,
                                .max_length_add = 5,
                                .n_best = 2};
    const auto found = beam_search(cx, *loaded.model, options, 1000, {&pieces, 1})[0];
    ASSERT_EQ(found.size(), 2) << source;
    for (size_t rank : {0, 1}) {
      EXPECT_EQ(found[rank].ids, numbers(ids[rank])) << stops << ' ' << source << " #" << rank;
      EXPECT_NEAR(found[rank].score, std::stod(scores[rank]), 1e-5) << stops << ' ' << source << " #" << rank;
    }
  }
}

/// A golden model with its SentencePiece models.
class HuggingFaceFolder : public testing::Test {
 protected:
  HuggingFaceFolder(const std::string& name, const std::vector<std::string>& files,
                    const std::vector<std::string>& models)
      : name_(name) {
    for (const std::string& file : files) folder.make(file, read_file(golden(name + "/" + file)));
    for (const std::string& model : models) folder.make(model, sentencepiece());
  }
  std::string path() const { return folder / ""; }
  std::string read(const std::string& file) const { return read_file(golden(name_ + "/" + file)); }
  void set(const std::string& key, const std::string& value) {
    std::string config = read("config.json");
    const size_t at = config.find('"' + key + '"'), begin = config.find(": ", at) + 2,
                 end = config.find_first_of(",\n", begin);
    config.replace(begin, end - begin, value);
    folder.make("config.json", config);
  }
  std::string complaint(const OpenOptions& options = {}) {
    try {
      open_model(path(), options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  std::vector<ReferenceScore> golden_pairs() const;

  TemporaryFolder folder;

 private:
  const std::string name_;
};

class MarianMt : public HuggingFaceFolder {
 protected:
  MarianMt()
      : HuggingFaceFolder("marianmt", {"config.json", "vocab.json", "model.safetensors"},
                          {"source.spm", "target.spm"}) {}
};

class M2M100 : public HuggingFaceFolder {
 protected:
  M2M100()
      : HuggingFaceFolder("m2m100", {"config.json", "vocab.json", "model.safetensors", "special_tokens_map.json"},
                          {"sentencepiece.bpe.model"}) {}
  const OpenOptions english_to_french = {.languages = {"en", "fr"}};
};

class MBart : public HuggingFaceFolder {
 protected:
  MBart()
      : HuggingFaceFolder("mbart", {"config.json", "model.safetensors", "special_tokens_map.json"},
                          {"sentencepiece.bpe.model"}) {}
  const OpenOptions english_to_french = {.languages = {"__en__", "__fr__"}};
};

inline std::vector<ReferenceScore> HuggingFaceFolder::golden_pairs() const {
  return reference_scores(read("pairs.ids"));
}

}  // namespace dragoman
