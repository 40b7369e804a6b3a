#include "text/html_elements.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/words.h"

namespace dragoman {
namespace {

using namespace std::string_view_literals;

constexpr std::array blocks = {
    "address"sv,  "article"sv, "aside"sv,     "blockquote"sv, "body"sv,     "br"sv,       "button"sv, "caption"sv,
    "center"sv,   "col"sv,     "colgroup"sv,  "dd"sv,         "details"sv,  "dialog"sv,   "dir"sv,    "div"sv,
    "dl"sv,       "dt"sv,      "fieldset"sv,  "figcaption"sv, "figure"sv,   "footer"sv,   "form"sv,   "frame"sv,
    "frameset"sv, "h1"sv,      "h2"sv,        "h3"sv,         "h4"sv,       "h5"sv,       "h6"sv,     "head"sv,
    "header"sv,   "hgroup"sv,  "hr"sv,        "html"sv,       "iframe"sv,   "legend"sv,   "li"sv,     "listing"sv,
    "main"sv,     "menu"sv,    "nav"sv,       "noembed"sv,    "noframes"sv, "noscript"sv, "ol"sv,     "optgroup"sv,
    "option"sv,   "p"sv,       "plaintext"sv, "pre"sv,        "search"sv,   "section"sv,  "select"sv, "summary"sv,
    "table"sv,    "tbody"sv,   "td"sv,        "template"sv,   "textarea"sv, "tfoot"sv,    "th"sv,     "thead"sv,
    "title"sv,    "tr"sv,      "ul"sv,        "xmp"sv};

// Start tags that end a paragraph (13.2.6.4.7), and those that end an item or a cell, with the paragraph in it.
constexpr std::array ending_paragraphs = {
    "address"sv, "article"sv,   "aside"sv, "blockquote"sv, "center"sv,   "dd"sv,         "details"sv, "dialog"sv,
    "dir"sv,     "div"sv,       "dl"sv,    "dt"sv,         "fieldset"sv, "figcaption"sv, "figure"sv,  "footer"sv,
    "form"sv,    "h1"sv,        "h2"sv,    "h3"sv,         "h4"sv,       "h5"sv,         "h6"sv,      "header"sv,
    "hgroup"sv,  "hr"sv,        "li"sv,    "listing"sv,    "main"sv,     "menu"sv,       "nav"sv,     "ol"sv,
    "p"sv,       "plaintext"sv, "pre"sv,   "search"sv,     "section"sv,  "summary"sv,    "table"sv,   "tbody"sv,
    "td"sv,      "tfoot"sv,     "th"sv,    "thead"sv,      "tr"sv,       "ul"sv,         "xmp"sv};

constexpr std::array voids = {"area"sv,  "base"sv,  "basefont"sv, "bgsound"sv, "br"sv,    "col"sv,
                              "embed"sv, "frame"sv, "hr"sv,       "img"sv,     "input"sv, "keygen"sv,
                              "link"sv,  "meta"sv,  "param"sv,    "source"sv,  "track"sv, "wbr"sv};

constexpr std::array untranslated = {"code"sv,     "iframe"sv,    "kbd"sv, "listing"sv,  "math"sv, "noembed"sv,
                                     "noframes"sv, "plaintext"sv, "pre"sv, "rp"sv,       "rt"sv,   "samp"sv,
                                     "script"sv,   "style"sv,     "svg"sv, "textarea"sv, "var"sv,  "xmp"sv};

// Start tags that end <svg> and <math> (13.2.6.5).
constexpr std::array breaking_out = {
    "b"sv,      "big"sv,  "blockquote"sv, "body"sv,  "br"sv,   "center"sv, "code"sv,    "dd"sv,   "div"sv,
    "dl"sv,     "dt"sv,   "em"sv,         "embed"sv, "h1"sv,   "h2"sv,     "h3"sv,      "h4"sv,   "h5"sv,
    "h6"sv,     "head"sv, "hr"sv,         "i"sv,     "img"sv,  "li"sv,     "listing"sv, "menu"sv, "meta"sv,
    "nobr"sv,   "ol"sv,   "p"sv,          "pre"sv,   "ruby"sv, "s"sv,      "small"sv,   "span"sv, "strike"sv,
    "strong"sv, "sub"sv,  "sup"sv,        "table"sv, "tt"sv,   "u"sv,      "ul"sv,      "var"sv};

static_assert(std::ranges::is_sorted(breaking_out) && std::ranges::is_sorted(ending_paragraphs));
static_assert(std::ranges::is_sorted(blocks) && std::ranges::is_sorted(voids) && std::ranges::is_sorted(untranslated));

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Whether the start tag of `next` ends `open`, the innermost block, whose end tag may be omitted (HTML, 13.1.2.4).
bool ends(std::string_view open, std::string_view next) {
  if (open == "p") return std::ranges::binary_search(ending_paragraphs, next);
  if (open == "li") return next == "li";
  if (open == "dt" || open == "dd") return is_one_of(next, {"dt", "dd"});
  if (open == "option") return is_one_of(next, {"option", "optgroup"});
  if (open == "optgroup") return next == "optgroup";
  if (open == "td" || open == "th") return is_one_of(next, {"td", "th", "tr", "tbody", "tfoot", "thead"});
  if (open == "tr") return is_one_of(next, {"tr", "tbody", "tfoot", "thead"});
  return is_one_of(open, {"tbody", "thead", "tfoot"}) && is_one_of(next, {"tbody", "tfoot"});
}

constexpr std::string_view blanks = " \t\n\f\r";

// Whether the tag says that its content is to be translated; empty: it does not say.
std::optional<bool> says_translated(const HtmlToken& tag) {
  std::optional<bool> answer;
  if (std::ranges::binary_search(untranslated, tag.name)) answer = false;
  for (const auto& [name, value] : tag.attributes) {
    if (name == "class" && has_word(value, "notranslate", blanks)) return false;
    if (name != "translate") continue;
    if (lower_ascii(value) == "no") return false;
    if (value.empty() || lower_ascii(value) == "yes") answer = true;
  }
  return answer;
}

}  // namespace

bool is_block(std::string_view element) { return std::ranges::binary_search(blocks, element); }
bool is_void(std::string_view element) { return std::ranges::binary_search(voids, element); }

bool OpenElements::open(const HtmlToken& tag) {
  const bool block = is_block(tag.name);
  if (block) close_implied(tag.name);
  const bool breaks_out = this->foreign() && std::ranges::binary_search(breaking_out, tag.name);
  while (breaks_out && this->foreign()) pop();
  const bool is_html_again = is_one_of(tag.name, {"foreignobject", "desc", "title", "annotation-xml"});
  const bool foreign = (this->foreign() && !is_html_again) || tag.name == "svg" || tag.name == "math";
  if (is_void(tag.name) || (foreign && tag.self_closing)) return breaks_out;
  const auto answer = says_translated(tag);
  const bool may = translated() || block;
  const size_t around = open_.empty() ? 0 : open_.back().nearest_block;
  open_.push_back({tag.name, block, may && answer.value_or(translated()), foreign, block ? open_.size() + 1 : around});
  ++count_[tag.name];
  return breaks_out;
}

void OpenElements::close(const std::string& element) {
  const auto count = count_.find(element);
  if (count == count_.end() || count->second == 0) return;
  while (open_.back().name != element) pop();
  pop();
}

void OpenElements::pop() {
  --count_[open_.back().name];
  open_.pop_back();
}

void OpenElements::close_implied(std::string_view next) {
  while (!open_.empty() && open_.back().nearest_block > 0) {
    const size_t block = open_.back().nearest_block - 1;
    if (!ends(open_[block].name, next)) return;
    while (open_.size() > block) pop();
  }
}

}  // namespace dragoman
