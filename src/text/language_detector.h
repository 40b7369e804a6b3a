#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/character_ngrams.h"

namespace dragoman {

/// How often each n-gram of a language occurs in a text.
class LanguageProfile {
 public:
  void add(std::string_view text);
  void keep_commonest(size_t ngrams);

  /// [order - 1]: the number of n-grams, including those that were not kept.
  std::array<int64_t, longest_ngram> totals = {};
  std::map<std::string, int64_t, std::less<>> counts;
};

struct DetectedLanguage {
  std::string language;
  double confidence;  // 0 to 1; all languages sum to 1
};

/// Detects the language of a text: naive Bayes over n-grams of 1 to 4 characters, the commonest ten thousand of each
/// language. It mistakes a language that it has not learned for one that it has. Thread-safe.
class LanguageDetector {
 public:
  /// By tag, such as "en" or "pt-BR". Error for no profiles, for an invalid tag, and for a profile without n-grams.
  explicit LanguageDetector(std::map<std::string, LanguageProfile> profiles);

  /// Reads a file written by to_bytes(): JSON (docs/text.md). Throws Error; `name` is what messages call the bytes.
  static LanguageDetector load(const std::string& path);
  static LanguageDetector from_bytes(std::string_view bytes, const std::string& name);
  std::string to_bytes() const;

  std::vector<std::string> languages() const;

  /// All languages, the most likely first. Only the beginning of a long text is read. If the text has no letter in the
  /// n-grams, all have confidence 0.
  std::vector<DetectedLanguage> detect(std::string_view text) const;

 private:
  std::map<std::string, LanguageProfile> profiles_;
  std::unordered_map<std::string, std::vector<float>>
      gains_;  // n-gram → by language: log p over that of an unknown one
};

/// Learns from texts, given as pairs of language tag and file; a language may have several. Error for a text without
/// letters.
LanguageDetector learn_languages(const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace dragoman
