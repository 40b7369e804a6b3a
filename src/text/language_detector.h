#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/character_ngrams.h"

namespace dragoman {

/// How often the n-grams of a language come in a text of it.
class LanguageProfile {
 public:
  void add(std::string_view text);
  void keep_commonest(size_t ngrams);

  /// By order, less one: how many n-grams there were, with those that were not kept.
  std::array<int64_t, longest_ngram> totals = {};
  std::map<std::string, int64_t, std::less<>> counts;
};

struct DetectedLanguage {
  std::string language;
  double confidence;  // 0 to 1; of all languages together 1
};

/// Tells the language of a text: naive Bayes over n-grams of 1 to 4 characters, of which a language has its commonest
/// ten thousand. Knows the languages that it learned, and takes any other for one of them. Thread-safe.
class LanguageDetector {
 public:
  /// By tag, such as "en" or "pt-BR". Error for none, for what is no tag, and for a profile without n-grams.
  explicit LanguageDetector(std::map<std::string, LanguageProfile> profiles);

  /// A file that to_bytes() wrote: JSON (docs/text.md). Error; `name` says in it where the bytes are from.
  static LanguageDetector load(const std::string& path);
  static LanguageDetector from_bytes(std::string_view bytes, const std::string& name);
  std::string to_bytes() const;

  std::vector<std::string> languages() const;

  /// All languages, the most likely first. Of a long text the begin decides. Without a letter that the n-grams hold,
  /// all have the confidence 0.
  std::vector<DetectedLanguage> detect(std::string_view text) const;

 private:
  std::map<std::string, LanguageProfile> profiles_;
  std::unordered_map<std::string, std::vector<float>>
      gains_;  // n-gram → by language: log p over that of an unknown one
};

/// Reads texts to learn from: language tag and file. A language may have several. Error for a file without letters.
LanguageDetector learn_languages(const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace dragoman
