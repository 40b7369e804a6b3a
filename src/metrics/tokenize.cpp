#include "metrics/tokenize.h"

#include <utf8proc.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "base/words.h"
#include "metrics/text.h"
#include "vocab/container.h"

namespace dragoman {
namespace {

bool is_period_or_comma(char32_t c) { return c == '.' || c == ','; }

// ASCII punctuation except the apostrophe, the period, the comma and the hyphen.
bool is_punctuation_13a(char32_t c) {
  return (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_number(char32_t c) {
  const auto category = utf8proc_category(utf8proc_int32_t(c));
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}
bool is_punctuation(char32_t c) {
  const auto category = utf8proc_category(utf8proc_int32_t(c));
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}
bool is_symbol(char32_t c) {
  const auto category = utf8proc_category(utf8proc_int32_t(c));
  return category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO;
}

enum class Aside { first, second };  // which of two neighbours gets a space on either side

// s/(A)(B)/\1 \2 /g or s/(A)(B)/ \1 \2/g: pairs match from the left without overlap, as in a regular expression.
template <class A, class B>
std::u32string set_aside(std::u32string_view text, A is_first, B is_second, Aside aside) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !is_first(text[i]) || !is_second(text[i + 1])) {
      out += text[i];
      continue;
    }
    if (aside == Aside::first) out += U' ';
    out += text[i];
    out += U' ';
    out += text[++i];
    if (aside == Aside::second) out += U' ';
  }
  return out;
}

// s/(A)/ \1 /g
template <class A>
std::u32string set_aside(std::u32string_view text, A is_word) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char32_t c : text) {
    const bool word = is_word(c);
    if (word) out += U' ';
    out += c;
    if (word) out += U' ';
  }
  return out;
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  size_t at = text.find(from), copied = 0;
  if (at == text.npos) return;
  std::u32string out;
  for (; at != text.npos; at = text.find(from, copied)) {
    out.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  text = out.append(text, copied);
}

// The rules of mteval-v13a for Western languages.
std::u32string western(std::u32string_view line) {
  std::u32string text = set_aside(line, is_punctuation_13a);
  text = set_aside(text, std::not_fn(is_digit), is_period_or_comma, Aside::second);
  text = set_aside(text, is_period_or_comma, std::not_fn(is_digit), Aside::first);
  return set_aside(
      text, is_digit, [](char32_t c) { return c == '-'; }, Aside::second);
}

std::u32string thirteen_a(std::u32string_view line) {
  std::u32string text(line);
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  if (text.find(U'&') != text.npos) {
    replace_all(text, U"&quot;", U"\"");
    replace_all(text, U"&amp;", U"&");
    replace_all(text, U"&lt;", U"<");
    replace_all(text, U"&gt;", U">");
  }
  return western(U" " + text + U" ");
}

// CJK ideographs, radicals, strokes, punctuation, phonetic and enclosed characters and full-width forms, dingbats and
// other symbols. The range from U+2001 is U+20000 to U+2A6D6 as sacreBLEU writes and compares it.
bool is_chinese(char32_t c) {
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x2001, 0x2a6d}, {0x2e80, 0x2fdf}, {0x2ff0, 0x303f}, {0x3100, 0x312f}, {0x31a0, 0x31bf},
      {0x31c0, 0x31ef}, {0x3200, 0x33ff}, {0x3400, 0x4db5}, {0x4e00, 0x9fbb}, {0xf900, 0xfa2d},
      {0xfa30, 0xfa6a}, {0xfa70, 0xfad9}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe4f}, {0xff00, 0xffef}};
  return std::ranges::any_of(ranges, [&](const auto& range) { return range.first <= c && c <= range.second; });
}

// Like international, adds no spaces around the line.
std::u32string chinese(std::u32string_view line) {
  while (!line.empty() && metrics::is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && metrics::is_space(line.back())) line.remove_suffix(1);
  return western(set_aside(line, is_chinese));
}

// Unlike thirteen_a, adds no spaces around the line, so a period after a number at the very end is not split off, as in
// mteval-v14.
std::u32string international(std::u32string_view line) {
  std::u32string text = set_aside(line, std::not_fn(is_number), is_punctuation, Aside::second);
  text = set_aside(text, is_punctuation, std::not_fn(is_number), Aside::first);
  return set_aside(text, is_symbol);
}

// As sacreBLEU's TokenizerSPM.
std::u32string pieces_of(std::u32string_view text, const Vocabulary& model) {
  std::string pieces;
  for (const std::string& piece : model.encode_pieces(to_utf8(text))) pieces.append(piece).append(" ");
  return code_points(pieces);
}

Vocabulary sentencepiece_of(const std::string& path) {
  Vocabulary model = Vocabulary::load(path);
  require(!is_container(model.bytes()), "--tokenize-model: {} is a list of pieces, expected a SentencePiece model",
          path);
  return model;
}

}  // namespace

void require_tokenizer_model(Tokenizer tokenizer, const std::string& model) {
  if (tokenizer == Tokenizer::spm && model.empty())
    throw Error("--tokenize spm needs --tokenize-model: the SentencePiece model whose pieces are the words",
                "sacreBLEU keeps that of its flores200 as ~/.sacrebleu/models/flores200sacrebleuspm");
  if (tokenizer != Tokenizer::spm && !model.empty())
    throw Error(fmt::format("--tokenize-model is for --tokenize spm, found --tokenize {}", name_of(tokenizer)),
                "give --tokenize spm, or leave out --tokenize-model");
}

void require_tokenizer_without_model(std::string_view option, Tokenizer tokenizer) {
  if (tokenizer == Tokenizer::spm)
    throw Error(fmt::format("--{} spm: only dragoman evaluate takes the SentencePiece model that it needs", option),
                "choose another tokenizer here; dragoman evaluate --tokenize spm computes spBLEU of translations");
}

LineTokenizer::LineTokenizer(Tokenizer tokenizer, const std::string& model) : name_(tokenizer) {
  require_tokenizer_model(tokenizer, model);
  if (!model.empty()) model_ = sentencepiece_of(model);
}

std::u32string LineTokenizer::operator()(std::u32string_view text) const {
  switch (name_) {
    case Tokenizer::thirteen_a:
      return thirteen_a(text);
    case Tokenizer::intl:
      return international(text);
    case Tokenizer::zh:
      return chinese(text);
    case Tokenizer::character:
      return set_aside(text, [](char32_t) { return true; });
    case Tokenizer::spm:
      return pieces_of(text, *model_);
    case Tokenizer::none:
      break;
  }
  return std::u32string(text);
}

}  // namespace dragoman
