#include "decode/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/utf8.h"
#include "decode/forbidden_phrases.h"
#include "io/xxhash64.h"
#include "text/characters.h"
#include "text/composed_text.h"
#include "text/words.h"
#include "vocab/line_codec.h"

namespace dragoman {
namespace {

size_t next_boundary(std::string_view text, size_t at) {
  do character_at(text, at);
  while (!is_boundary(text, at));
  return at;
}

}  // namespace

// A vocabulary marks the beginning of a line like a space. Behind another character it does not.
Phrase phrase_of(const Vocabulary& target, std::string_view text) {
  if (!word_role(first_character(text)).without_spaces) return target.encode(text);
  const std::string before = "。";
  const EncodedLine line = target.encode_with_offsets(before + std::string(text));
  size_t first = 0;
  while (first < line.ids.size() && line.ranges[first].end <= before.size()) ++first;
  const bool separate = first < line.ids.size() && line.ranges[first].begin >= before.size();
  return separate ? Phrase(line.ids.begin() + ptrdiff_t(first), line.ids.end()) : target.encode(text);
}

Glossary::Glossary(const std::string& path, const Vocabulary& target) : target_(target) {
  const std::string shape = "a term of the source, a tab and its translation";
  LineReader lines(path, shape + " in each line");
  name_ = lines.name();
  Terms terms;
  for (std::string line; lines.next(line);) {
    const auto where = [&] { return fmt::format("{}, line {}", lines.name(), lines.lines()); };
    if (lines.invalid_lines() > 0) throw Error(where() + ": not UTF-8", "convert the glossary with iconv");
    if (without_blanks(line).empty() && line.find('\t') == std::string::npos) continue;
    const size_t tab = line.find('\t');
    require(tab != std::string::npos, "{}: has no tab, expected {}", where(), shape);
    require(line.find('\t', tab + 1) == std::string::npos, "{}: has more than one tab, expected {}", where(), shape);
    const auto source = without_blanks(std::string_view(line).substr(0, tab));
    const auto translation = without_blanks(std::string_view(line).substr(tab + 1));
    require(!source.empty(), "{}: has no term before the tab, expected {}", where(), shape);
    require(!translation.empty(), "{}: has no translation after the tab, expected {}", where(), shape);
    add(terms, source, translation, lines.lines(), where());
  }
  take(std::move(terms));
}

Glossary::Glossary(const std::map<std::string, std::string>& given_terms, const Vocabulary& target) : target_(target) {
  Terms terms;
  for (const auto& [given, of_given] : given_terms) {
    std::string source = given, translation = of_given;
    clean_utf8(source), clean_utf8(translation);
    require(!without_blanks(source).empty(), "glossary: a term is empty");
    require(!without_blanks(translation).empty(), "glossary: '{}' has no translation", source);
    add(terms, without_blanks(source), without_blanks(translation), 0, "glossary");
  }
  take(std::move(terms));
}

void Glossary::add(Terms& terms, std::string_view source, std::string_view translation, int64_t line,
                   std::string_view where) {
  Phrase phrase = phrase_of(target_, translation);
  if (phrase.empty() || std::ranges::find(phrase, target_.unk()) != phrase.end())
    throw Error(fmt::format("{}: '{}' has characters that the model's vocabulary lacks", where, translation),
                "the model cannot write this translation: leave the term out");
  const std::string key(ComposedText(source).text());
  const auto found = terms.find(key);
  if (found == terms.end()) {
    terms.emplace(key, Term{key, std::move(phrase), line});
  } else if (const Term& same = found->second; same.phrase != phrase) {
    const std::string other = same.line > 0 ? fmt::format(" in line {}", same.line) : "";
    throw Error(fmt::format("{}: '{}' has another translation{}", where, source, other), "keep one of the two");
  }
}

void Glossary::take(Terms terms) {
  for (auto& [source, term] : terms)
    by_first_word_[source.substr(0, next_boundary(source, 0))].push_back(std::move(term));
  for (auto& [word, of_word] : by_first_word_)
    std::ranges::sort(of_word, std::greater(), [](const Term& term) { return term.source.size(); });
}

std::string Glossary::checksum() const {
  std::map<std::string_view, const Phrase*> in_order;
  for (const auto& [word, terms] : by_first_word_)
    for (const Term& term : terms) in_order[term.source] = &term.phrase;
  XxHash64 hash;
  for (const auto& [source, phrase] : in_order) {
    const std::string line = fmt::format("{}\t{}\n", source, fmt::join(*phrase, " "));
    hash.add(std::as_bytes(std::span(line)));
  }
  return fmt::format("{:016x}", hash.digest());
}

void Glossary::require_without(const ForbiddenPhrases& avoided) const {
  for (const auto& [word, terms] : by_first_word_)
    for (const auto& [source, phrase, line] : terms)
      if (const std::string found = avoided.first_in(phrase); !found.empty())
        throw Error(fmt::format("{}{}: the translation '{}' (in pieces: {}) contains '{}', which --avoid forbids",
                                name_, line > 0 ? fmt::format(", line {}", line) : "", target_.decode(phrase),
                                with_pieces(target_, phrase), found),
                    "leave out the term or the phrase");
}

// The longest term at the beginning of a text, which begins with this word; null: none.
const Glossary::Term* Glossary::longest(std::string_view text, const std::string& first_word) const {
  const auto terms = by_first_word_.find(first_word);
  if (terms == by_first_word_.end()) return nullptr;
  const auto term = std::ranges::find_if(terms->second, [&](const Term& term) {
    return text.starts_with(term.source) && is_boundary(text, term.source.size());
  });
  return term == terms->second.end() ? nullptr : &*term;
}

std::vector<Glossary::Found> Glossary::find(std::string_view original, const Glossary* further) const {
  std::vector<Found> found;
  ComposedText composed(original);
  const std::string_view text = composed.text();
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::exchange(at, next_boundary(text, at));
    const std::string word(text.substr(begin, at - begin));
    const Term* term = longest(text.substr(begin), word);
    const Term* other = further ? further->longest(text.substr(begin), word) : nullptr;
    if (other && (!term || other->source.size() > term->source.size())) term = other;
    if (!term) continue;
    found.push_back({composed.in_original(begin), &term->phrase});
    at = begin + term->source.size();
  }
  return found;
}

}  // namespace dragoman
