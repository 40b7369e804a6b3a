#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "align/alignment_style.h"
#include "base/bounds.h"
#include "base/enum_names.h"
#include "base/memory_size.h"
#include "model/config_fields.h"
#include "train/frequency.h"

namespace dragoman {

/// An option's value as typed: one word, or several for a list.
using Strings = std::vector<std::string>;

/// read_word() converts a word to a value and throws Error ("'x' is not a whole number") if it cannot; show_word() is
/// its inverse. There is a pair for each type that an option can have.
void read_word(std::string& value, const std::string& word, Bounds bounds);
void read_word(bool& value, const std::string& word, Bounds bounds);
void read_word(int& value, const std::string& word, Bounds bounds);
void read_word(int64_t& value, const std::string& word, Bounds bounds);
void read_word(uint64_t& value, const std::string& word, Bounds bounds);
void read_word(double& value, const std::string& word, Bounds bounds);
void read_word(Frequency& value, const std::string& word, Bounds bounds);
void read_word(MemorySize& value, const std::string& word, Bounds bounds);
void read_word(AlignmentStyle& value, const std::string& word, Bounds bounds);

/// "true", "yes" or "on"; "false", "no" or "off"; in the spellings of YAML 1.1, which has Python's "True" too. nullopt
/// for another word.
std::optional<bool> switch_word(const std::string& word);

std::string show_word(const std::string& value);
std::string show_word(bool value);
std::string show_word(int value);
std::string show_word(int64_t value);
std::string show_word(uint64_t value);
std::string show_word(double value);
std::string show_word(Frequency value);
std::string show_word(MemorySize value);
std::string show_word(const AlignmentStyle& value);

/// Throws the Error for a word that is not the name of an enumerator.
[[noreturn]] void fail_choice(const std::string& word, const std::string& choices);

template <class E>
requires std::is_enum_v<E>
void read_word(E& value, const std::string& word, Bounds) {
  const auto found = from_name<E>(word);
  if (!found) fail_choice(word, all_names<E>());
  value = *found;
}
template <class E>
requires std::is_enum_v<E> std::string show_word(E value) { return std::string(name_of(value)); }

template <class T>
struct ElementOf {
  using type = T;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = T;
};

template <class T>
concept List = !std::same_as<T, typename ElementOf<T>::type>;

/// Splits `words` at commas: "bleu,chrf" is two values. Not for file names, which may contain commas.
Strings split_at_commas(const Strings& words);

template <class T>
void read_words(T& value, const Strings& words, Bounds bounds) {
  read_word(value, words.at(0), bounds);
}
template <class T>
void read_words(std::vector<T>& value, const Strings& words, Bounds bounds) {
  value.clear();
  for (const std::string& word : std::same_as<T, std::string> ? words : split_at_commas(words)) {
    T element{};
    read_word(element, word, bounds);
    value.push_back(element);
  }
}

template <class T>
Strings show_words(const T& value) {
  return {show_word(value)};
}
template <class T>
Strings show_words(const std::vector<T>& value) {
  Strings words;
  for (const T& element : value) words.push_back(show_word(element));
  return words;
}

/// The words that an option of an enum type T accepts: "relu, gelu, swish"; else empty.
template <class T>
std::string choices_of() {
  using Element = typename ElementOf<T>::type;
  if constexpr (std::is_enum_v<Element>) return all_names<Element>();
  return "";
}

}  // namespace dragoman
