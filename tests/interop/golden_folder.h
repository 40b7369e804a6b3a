#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "decode/beam_search.h"
#include "interop/open_model.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {

/// A copy of a folder of tests/interop/golden, in which tests may change files: `m` in a temporary folder.
class GoldenFolder : public testing::Test {
 protected:
  GoldenFolder(const std::string& name, std::string config)
      : golden_(source_dir() + "/tests/interop/golden/" + name), config_(std::move(config)) {
    std::filesystem::copy(golden_, path());
  }
  std::string path() const { return folder / "m"; }
  std::string read(const std::string& file) const { return read_file(path() + "/" + file); }
  std::string sound(const std::string& file) const { return read_file(golden_ + "/" + file); }
  std::vector<ReferenceScore> pairs() const { return reference_scores(sound("pairs.ids")); }
  // Replaces text of a file.
  void replace(const std::string& file, const std::string& old, const std::string& by) {
    std::string text = sound(file);
    size_t count = 0;
    for (size_t at = 0; (at = text.find(old, at)) != text.npos; ++count, at += by.size())
      text.replace(at, old.size(), by);
    EXPECT_GT(count, 0) << old;
    folder.make("m/" + file, text);
  }
  std::string complaint() const {
    try {
      open_model(path());
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  std::string complaint_if(const std::string& old, const std::string& by) {
    replace(config_, old, by);
    const std::string said = complaint();
    folder.make("m/" + config_, sound(config_));
    return said;
  }
  double changed(void (*change)(ModelConfig&)) const {
    const ConvertedModel model = *read_foreign_model(path());
    ModelConfig config = model.config;
    change(config);
    return score_difference(ModelFile::in_memory("m", config, model.vocabularies, model.weights), pairs());
  }
  void expect_greedy_translations(int min_length) const;
  TemporaryFolder folder;

 private:
  const std::string golden_, config_;
};

inline void GoldenFolder::expect_greedy_translations(int min_length) const {
  Arena arena;
  const ModelFile file = open_model(path());
  const LoadedModel loaded = load_model(file, backend("cpu"), arena);
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
  std::istringstream text(sound("greedy.ids"));
  int lines = 0;
  for (std::string source, ids; std::getline(text, source, '\t') && std::getline(text, ids); ++lines) {
    const std::vector<int32_t> pieces = numbers(source);
    const int steps = 12;
    const SearchOptions options{
        .beam_size = 1, .max_length_add = steps - int(pieces.size()), .min_length = min_length, .n_best = 1};
    const auto found = beam_search(cx, *loaded.model, options, 1000, {&pieces, 1})[0];
    EXPECT_EQ(found.at(0).ids, numbers(ids)) << source;
  }
  EXPECT_EQ(lines, 8);
}

}  // namespace dragoman
