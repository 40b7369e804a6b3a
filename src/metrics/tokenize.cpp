#include "metrics/tokenize.h"

#include <utf8proc.h>

#include <functional>

namespace dragoman {
namespace {

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
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
  text = set_aside(U" " + text + U" ", is_punctuation_13a);
  text = set_aside(text, std::not_fn(is_digit), is_period_or_comma, Aside::second);
  text = set_aside(text, is_period_or_comma, std::not_fn(is_digit), Aside::first);
  return set_aside(
      text, is_digit, [](char32_t c) { return c == '-'; }, Aside::second);
}

// Unlike thirteen_a, adds no spaces around the line, so a period after a number at the very end is not split off, as in
// mteval-v14.
std::u32string international(std::u32string_view line) {
  std::u32string text = set_aside(line, std::not_fn(is_number), is_punctuation, Aside::second);
  text = set_aside(text, is_punctuation, std::not_fn(is_number), Aside::first);
  return set_aside(text, is_symbol);
}

}  // namespace

std::u32string tokenize(std::u32string_view text, Tokenizer tokenizer) {
  switch (tokenizer) {
    case Tokenizer::thirteen_a:
      return thirteen_a(text);
    case Tokenizer::intl:
      return international(text);
    case Tokenizer::character:
      return set_aside(text, [](char32_t) { return true; });
    case Tokenizer::none:
      break;
  }
  return std::u32string(text);
}

}  // namespace dragoman
