#include "text/html_scanner.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/words.h"

namespace dragoman {
namespace {

using Kind = HtmlToken::Kind;
constexpr size_t npos = std::string_view::npos;
constexpr std::string_view blanks = " \t\n\f\r", name_ends = " \t\n\f\r/>";

bool is_letter(std::string_view text, size_t at) {
  return at < text.size() && std::isalpha(uint8_t(text[at])) && uint8_t(text[at]) < 0x80;
}

bool starts_with(std::string_view text, size_t at, std::string_view word) {
  if (text.size() - at < word.size()) return false;
  return std::ranges::equal(text.substr(at, word.size()), word, {}, [](char c) { return lower_ascii(c); });
}

// "<script" or "</script", followed by the end of a tag's name.
bool is_tag(std::string_view text, size_t at, std::string_view begin, std::string_view name) {
  const size_t end = at + begin.size() + name.size();
  return starts_with(text, at, begin) && starts_with(text, at + begin.size(), name) && end < text.size() &&
         name_ends.find(text[end]) != npos;
}

// The position after the first `mark` at or after `from`, or the end of the text.
size_t behind(std::string_view text, std::string_view mark, size_t from) {
  const size_t found = text.find(mark, from);
  return found == npos ? text.size() : found + mark.size();
}

// The position after the comment at the start of the text (13.2.5.43 ff.).
size_t end_of_comment(std::string_view text) {
  constexpr size_t opening = 4;  // <!--
  if (text.substr(opening).starts_with(">")) return opening + 1;
  if (text.substr(opening).starts_with("->")) return opening + 2;
  for (size_t at = opening; (at = text.find("--", at)) != npos; ++at) {
    const std::string_view rest = text.substr(at + 2);
    if (rest.starts_with(">")) return at + 3;
    if (rest.starts_with("!>")) return at + 4;
  }
  return text.size();
}

// Where the end tag of a <script> begins (13.2.5.15 ff.): one between "<!--<script>" and "</script>" does not count.
size_t end_of_script(std::string_view text) {
  enum class State { plain, escaped, doubly_escaped } state = State::plain;
  for (size_t at = 0; (at = text.find_first_of("<-", at)) != npos; ++at) {
    const bool ends = is_tag(text, at, "</", "script");
    if (state == State::plain && starts_with(text, at, "<!--"))
      state = State::escaped, ++at;  // "<!-->" ends it at once
    else if (state != State::plain && starts_with(text, at, "-->"))
      state = State::plain;
    else if (state == State::escaped && is_tag(text, at, "<", "script"))
      state = State::doubly_escaped;
    else if (state == State::doubly_escaped && ends)
      state = State::escaped;
    else if (ends)
      return at;
  }
  return text.size();
}

size_t end_of_raw(std::string_view text, std::string_view name) {
  if (name == "plaintext") return text.size();
  if (name == "script") return end_of_script(text);
  for (size_t at = 0; (at = text.find("</", at)) != npos; ++at)
    if (is_tag(text, at, "</", name)) return at;
  return text.size();
}

bool holds_no_markup(std::string_view name) {
  static constexpr std::array names = {"iframe", "noembed",  "noframes", "plaintext", "script",
                                       "style",  "textarea", "title",    "xmp"};
  return std::ranges::find(names, name) != names.end();
}

// Parses one attribute of the text (13.2.5.32 ff.), which does not begin with a blank, "/" or ">". Returns its end.
size_t attribute(std::string_view text, size_t at, HtmlToken& tag) {
  const auto end_of = [&](size_t found) { return std::min(found, text.size()); };
  const size_t name_end = end_of(text.find_first_of(" \t\n\f\r/>=", at + 1));  // a leading "=" is part of the name
  HtmlAttribute one{lower_ascii(text.substr(at, name_end - at)), {}};
  size_t end = name_end;
  if (const size_t equals = text.find_first_not_of(blanks, name_end); equals != npos && text[equals] == '=') {
    const size_t value = end_of(text.find_first_not_of(blanks, equals + 1));
    const char quote = value < text.size() ? text[value] : '>';
    if (quote == '"' || quote == '\'') {
      const size_t closing = end_of(text.find(quote, value + 1));
      one.value = text.substr(value + 1, closing - value - 1);
      end = std::min(closing + 1, text.size());
    } else {
      end = quote == '>' ? value : end_of(text.find_first_of(" \t\n\f\r>", value));
      one.value = text.substr(value, end - value);
    }
  }
  tag.attributes.push_back(std::move(one));
  return end;
}

}  // namespace

HtmlToken HtmlScanner::take(Kind kind, size_t end) {
  HtmlToken token{kind, html_.substr(at_, end)};
  at_ += token.bytes.size();
  return token;
}

std::optional<HtmlToken> HtmlScanner::next(bool foreign) {
  if (!raw_.empty())
    if (auto content = raw_text()) return content;
  if (at_ == html_.size()) return std::nullopt;
  const std::string_view text = rest();
  if (!text.starts_with('<')) return this->text();
  if (is_letter(text, 1) || (text.starts_with("</") && is_letter(text, 2))) return tag(foreign);
  if (text.starts_with("<!") || text.starts_with("<?")) return declaration(foreign);
  if (text.starts_with("</") && text.size() > 2) return take(Kind::comment, behind(text, ">", 2));
  return this->text();
}

std::optional<HtmlToken> HtmlScanner::raw_text() {
  const std::string name = std::exchange(raw_, "");
  const size_t end = end_of_raw(rest(), name);
  if (end == 0) return std::nullopt;
  const bool has_references = name == "title" || name == "textarea";
  return take(has_references ? Kind::text : Kind::raw_text, end);
}

HtmlToken HtmlScanner::text() { return take(Kind::text, std::min(rest().find('<', 1), rest().size())); }

HtmlToken HtmlScanner::declaration(bool foreign) {
  const std::string_view text = rest();
  if (text.starts_with("<!--")) return take(Kind::comment, end_of_comment(text));
  if (starts_with(text, 0, "<!doctype")) return take(Kind::doctype, behind(text, ">", 0));
  if (foreign && text.starts_with("<![CDATA[")) return take(Kind::comment, behind(text, "]]>", 0));
  return take(Kind::comment, behind(text, ">", 0));
}

HtmlToken HtmlScanner::tag(bool foreign) {
  const std::string_view text = rest();
  const bool ends = text[1] == '/';
  const size_t name = ends ? 2 : 1;
  size_t at = std::min(text.find_first_of(name_ends, name), text.size());
  HtmlToken tag{ends ? Kind::end_tag : Kind::start_tag, {}, lower_ascii(text.substr(name, at - name))};
  while ((at = text.find_first_not_of(blanks, at)) != npos && text[at] != '>') {
    tag.self_closing = text[at] == '/' && text.substr(at + 1).starts_with('>');
    at = text[at] == '/' ? at + 1 : attribute(text, at, tag);
  }
  if (at == npos) return take(Kind::comment, text.size());
  tag.bytes = take(tag.kind, at + 1).bytes;
  if (!ends && !foreign && holds_no_markup(tag.name)) raw_ = tag.name;
  return tag;
}

}  // namespace dragoman
