#include "metrics/porter.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace dragoman {
namespace {

// y is a vowel after a consonant. One pass, since a letter's kind depends on the one before it.
std::vector<bool> consonants_of(std::string_view word) {
  std::vector<bool> consonant(word.size());
  for (size_t i = 0; i < word.size(); ++i)
    consonant[i] = word[i] == 'y' ? i == 0 || !consonant[i - 1] : std::string_view("aeiou").find(word[i]) == size_t(-1);
  return consonant;
}

// m of the paper: how often a consonant follows a vowel.
int measure(std::string_view stem) {
  const auto consonant = consonants_of(stem);
  int count = 0;
  for (size_t i = 1; i < stem.size(); ++i) count += !consonant[i - 1] && consonant[i];
  return count;
}

// *v* of the paper.
bool has_vowel(std::string_view stem) {
  const auto consonant = consonants_of(stem);
  return std::find(consonant.begin(), consonant.end(), false) != consonant.end();
}

// *d of the paper.
bool ends_in_double_consonant(std::string_view word) {
  return word.size() >= 2 && word[word.size() - 1] == word[word.size() - 2] && consonants_of(word).back();
}

// *o of the paper, as in -wil and -hop; NLTK also accepts words of one vowel and one consonant.
bool ends_in_short_syllable(std::string_view word) {
  const auto consonant = consonants_of(word);
  const size_t n = word.size();
  if (n == 2) return !consonant[0] && consonant[1];
  return n >= 3 && consonant[n - 3] && !consonant[n - 2] && consonant[n - 1] &&
         std::string_view("wxy").find(word[n - 1]) == size_t(-1);
}

std::string_view without(std::string_view word, size_t letters) { return word.substr(0, word.size() - letters); }

struct Rule {
  std::string_view suffix, replacement;
};

// Only the first rule with a matching suffix is considered, even if the stem is too short for it to apply.
template <class Allowed>
std::string changed(const std::string& word, std::span<const Rule> rules, Allowed allowed) {
  for (const auto& [suffix, replacement] : rules)
    if (word.ends_with(suffix)) {
      const auto stem = without(word, suffix.size());
      return allowed(stem, suffix) ? std::string(stem).append(replacement) : word;
    }
  return word;
}

bool positive(std::string_view stem, std::string_view) { return measure(stem) > 0; }

// Plurals.
std::string step_1a(const std::string& word) {
  static constexpr Rule rules[] = {{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}};
  if (word.size() == 4 && word.ends_with("ies")) return word.substr(0, 3);  // dies, ties
  return changed(word, rules, [](auto, auto) { return true; });
}

// After removal of -ed or -ing, restores an e or drops a doubled letter.
std::string mended(std::string stem) {
  if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) return stem + "e";
  if (ends_in_double_consonant(stem)) {
    if (std::string_view("lsz").find(stem.back()) == size_t(-1)) stem.pop_back();
    return stem;
  }
  return measure(stem) == 1 && ends_in_short_syllable(stem) ? stem + "e" : stem;
}

// Past tenses and participles.
std::string step_1b(const std::string& word) {
  if (word.ends_with("ied")) return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed")) return measure(without(word, 3)) > 0 ? word.substr(0, word.size() - 1) : word;
  for (const std::string_view suffix : {"ed", "ing"})
    if (word.ends_with(suffix) && has_vowel(without(word, suffix.size())))
      return mended(word.substr(0, word.size() - suffix.size()));
  return word;
}

// -y becomes -i after a consonant, unless that is the first letter.
std::string step_1c(std::string word) {
  const auto stem = word.ends_with("y") ? without(word, 1) : std::string_view();
  if (stem.size() > 1 && consonants_of(stem).back()) word.back() = 'i';
  return word;
}

std::string step_2(const std::string& word) {
  static constexpr Rule rules[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
                                   {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
                                   {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
                                   {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
                                   {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
                                   {"fulli", "ful"},   {"logi", "log"}};
  if (word.ends_with("alli") && measure(without(word, 4)) > 0) return step_2(word.substr(0, word.size() - 2));
  return changed(word, rules, [](std::string_view stem, std::string_view suffix) {
    return suffix == "logi" ? measure(std::string(stem) + 'l') > 0 : measure(stem) > 0;  // the l is the stem's: geo-l-
  });
}

std::string step_3(const std::string& word) {
  static constexpr Rule rules[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                   {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
  return changed(word, rules, positive);
}

std::string step_4(const std::string& word) {
  static constexpr Rule rules[] = {{"al", ""},   {"ance", ""}, {"ence", ""}, {"er", ""},    {"ic", ""},
                                   {"able", ""}, {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
                                   {"ent", ""},  {"ion", ""},  {"ou", ""},   {"ism", ""},   {"ate", ""},
                                   {"iti", ""},  {"ous", ""},  {"ive", ""},  {"ize", ""}};
  return changed(word, rules, [](std::string_view stem, std::string_view suffix) {
    return measure(stem) > 1 && (suffix != "ion" || stem.ends_with('s') || stem.ends_with('t'));
  });
}

// Drops a final e, and one l of a final ll.
std::string step_5(std::string word) {
  if (word.ends_with('e')) {
    const auto stem = without(word, 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_in_short_syllable(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(without(word, 1)) > 1) word.pop_back();
  return word;
}

}  // namespace

std::string porter_stem(std::string word) {
  static constexpr Rule irregular[] = {
      {"sky", "sky"},        {"skies", "sky"},       {"dying", "die"},        {"lying", "lie"},
      {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
      {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
      {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};
  for (const auto& [form, stem] : irregular)
    if (word == form) return std::string(stem);
  if (word.size() <= 2) return word;
  for (const auto step : {step_1a, step_1b}) word = step(word);
  word = step_1c(std::move(word));
  for (const auto step : {step_2, step_3, step_4}) word = step(word);
  return step_5(std::move(word));
}

}  // namespace dragoman
