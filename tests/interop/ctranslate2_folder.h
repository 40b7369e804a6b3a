#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "decode/beam_search.h"
#include "interop/open_model.h"
#include "model/frame.h"
#include "tests/error_of.h"
#include "tests/interop/golden.h"
#include "tests/interop/score_difference.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

/// Helpers of the tests of CTranslate2's folders.
namespace dragoman::ctranslate2_folders {

inline std::vector<std::vector<std::string>> rows(const std::string& file) {
  std::istringstream text(read_file(golden(file)));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line + "\t");
    auto& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  return rows;
}

inline std::vector<ReferenceScore> golden_pairs(const ModelFile& file, const std::string& folder) {
  const SentenceFrames frames = frames_of(file.config());
  const auto& [source, target] = file.vocabularies();
  std::vector<ReferenceScore> pairs;
  for (const auto& row : rows(folder + "/pairs.tsv"))
    pairs.push_back(
        {frames.source.around(source.encode(row[0])), frames.target.around(target.encode(row[1])), std::stod(row[2])});
  return pairs;
}

// The two best of four beams, with their scores.
inline void expect_searches(const ModelFile& file, const std::string& folder) {
  Arena arena;
  const LoadedModel loaded = load_model(file, backend("cpu"), arena);
  Context cx{.backend = backend("cpu"), .arena = arena, .packed = &loaded.packed};
  for (const auto& row : rows(folder + "/search.tsv")) {
    const std::vector<int32_t> source = file.vocabularies().source.encode(row[0]);
    const SearchOptions options{.beam_size = 4, .max_length_add = 6, .n_best = 2};
    const auto found = beam_search(cx, *loaded.model, options, 1000, {&source, 1})[0];
    ASSERT_EQ(found.size(), 2);
    for (size_t rank : {0, 1}) {
      EXPECT_EQ(file.vocabularies().target.decode(found[rank].ids), row[2 * rank + 2]) << row[0];
      EXPECT_NEAR(found[rank].score, std::stod(row[2 * rank + 1]), 1e-5) << row[0];
    }
  }
}

inline std::string complaint(const std::string& path, const OpenOptions& options = {}) {
  return error_of([&] { open_model(path, options); });
}

/// A copy of a golden folder that may be changed.
struct Copy {
  explicit Copy(const std::string& name) {
    for (const auto& entry : std::filesystem::directory_iterator(golden(name)))
      folder.make(entry.path().filename().string(), read_file(entry.path()));
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_file(folder / file);
    const size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    folder.make(file, text.replace(at, from.size(), to));
  }
  TemporaryFolder folder;
};

template <class T>
inline std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

inline std::string variable_name(const std::string& name) { return number(uint16_t(name.size() + 1)) + name + '\0'; }

inline std::string flag(const std::string& name, bool value) {
  return variable_name(name) + std::string("\0\1\1\0\0\0", 6) + char(value);
}

/// model.bin with one more variable at the beginning.
inline std::string with_variable(std::string bytes, const std::string& variable) {
  const size_t count = 4 + variable_name("TransformerSpec").size() + 4;
  uint32_t variables = 0;
  std::memcpy(&variables, bytes.data() + count, 4);
  return bytes.replace(count, 4, number(variables + 1) + variable);
}

}  // namespace dragoman::ctranslate2_folders
