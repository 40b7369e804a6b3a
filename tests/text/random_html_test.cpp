#include <gmock/gmock.h>

#include <random>

#include "tests/text/html_markup.h"
#include "tests/text/word_for_word.h"
#include "text/document.h"

namespace dragoman {
namespace {

using Translations = std::vector<TranslatedSentence>;
using Random = std::mt19937;

template <class T>
const T& one_of(const std::vector<T>& all, Random& random) {
  return all[random() % all.size()];
}

const std::vector<std::string> words = {"one", "Two.",    "three?", "&eacute;t&eacute;", "&lt;", "今日。",
                                        "4.5", "a&amp;b", "(x)"};
const std::vector<std::string> blanks = {"", " ", "\u00a0", "\u3000"};
const std::vector<std::string> inline_elements = {"b", "i", "a", "span", "x-y"};
const std::vector<std::string> lone = {"<img>", "<wbr>", "<!-- c -->", "<code>f()</code>", "<x/>", "<i></i>"};

// Words and elements in which each tag touches a word on one side and a blank on the other; well nested.
std::string inline_html(Random& random, int depth) {
  std::string html;
  for (auto parts = 1 + random() % 4; parts > 0; --parts) {
    if (!html.empty()) html += ' ';
    const auto kind = random() % 6;
    const std::string& name = one_of(inline_elements, random);
    if (kind < 3 || depth == 0)
      html += one_of(words, random);
    else if (kind < 5)
      html += "<" + name + " k='<v>'>" + inline_html(random, depth - 1) + "</" + name + ">";
    else
      html += one_of(lone, random) + one_of(words, random);
  }
  return html;
}

std::string page(Random& random) {
  std::string html = "<!doctype html>\n";
  for (auto blocks = random() % 4; blocks > 0; --blocks) {
    const std::string name = random() % 2 ? "p" : "div";
    html += "<" + name + ">\n  " + inline_html(random, 3) + "\n</" + name + ">\n";
    if (random() % 4 == 0) html += "<br><script>if (a<b) '<b>'</script><hr/>";
  }
  return html;
}

// Pieces of tags and text in any order.
std::string soup(Random& random) {
  static const std::vector<std::string> pieces = {"<b>",
                                                  "</b>",
                                                  "<i>",
                                                  "</i>",
                                                  "<p>",
                                                  "</p>",
                                                  "<a href=\"x\">",
                                                  "</a>",
                                                  "<br>",
                                                  "<img>",
                                                  "<code>",
                                                  "</code>",
                                                  "<!--",
                                                  "-->",
                                                  "<",
                                                  ">",
                                                  "&amp",
                                                  ";",
                                                  "one ",
                                                  " two",
                                                  "Three. ",
                                                  "!\n",
                                                  "<li>",
                                                  "</ul>",
                                                  "<span translate=no>",
                                                  "</span>",
                                                  "<script>",
                                                  "</script>",
                                                  "<title>",
                                                  "</title>",
                                                  "\"",
                                                  "'",
                                                  "<b class='notranslate'>",
                                                  "<svg>",
                                                  "</svg>",
                                                  "<p translate=yes>",
                                                  "。",
                                                  "\xFF",
                                                  "&#0;",
                                                  "&nbsp;",
                                                  "</",
                                                  "<?x?>",
                                                  "<x/>",
                                                  "<table><td>"};
  std::string html;
  for (auto count = random() % 25; count > 0; --count) html += one_of(pieces, random);
  return html;
}

// Some words, and links of any kind, some of them beyond the texts or to parts of characters.
TranslatedSentence nonsense(const std::string& sentence, Random& random) {
  TranslatedSentence translation;
  for (auto count = random() % 6; count > 0; --count)
    translation.text += one_of(blanks, random) + one_of(words, random);
  const auto range = [&](size_t size) {
    const size_t begin = random() % (size + 2);
    return ByteRange{begin, begin + random() % 5};
  };
  for (auto count = random() % 8; count > 0; --count)
    translation.links.push_back({range(sentence.size()), range(translation.text.size()), random() % 4 == 0});
  return translation;
}

template <class Translate>
std::string translated(const std::string& html, Translate translate) {
  const Document document(html, DocumentFormat::html, "en");
  Translations translations;
  for (const std::string& sentence : document.sentences()) translations.push_back(translate(sentence));
  return document.assemble(translations);
}

bool is_well_nested(const std::string& html) {
  std::vector<std::string> open;
  for (const HtmlToken& token : tokens_of(html)) {
    const bool lone = token.self_closing || token.name == "img" || token.name == "wbr" || token.name == "br";
    if (token.kind == HtmlToken::Kind::start_tag && !lone) open.push_back(token.name);
    if (token.kind != HtmlToken::Kind::end_tag) continue;
    if (open.empty() || open.back() != token.name) return false;
    open.pop_back();
  }
  return open.empty();
}

TEST(RandomHtml, IsItselfWithItsOwnSentences) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::string html = page(random);
    ASSERT_EQ(translated(html, word_for_word), html) << round;
  }
}

TEST(RandomHtml, KeepsEachTagOnceAndWellNested) {
  Random random(2);
  for (int round = 0; round < 5000; ++round) {
    const std::string html = page(random);
    ASSERT_TRUE(is_well_nested(html)) << html;
    for (const std::string& out :
         {translated(html, words_reversed), translated(html, [&](const auto& s) { return nonsense(s, random); }),
          translated(html, [](const auto&) { return TranslatedSentence{"w"}; })}) {
      ASSERT_EQ(markup_of(out), markup_of(html)) << html << "\n" << out;
      ASSERT_TRUE(is_well_nested(out)) << html << "\n" << out;
    }
  }
}

TEST(RandomHtml, LosesNothingOfSoup) {
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    const std::string html = soup(random);
    const Document document(html, DocumentFormat::html, "en");
    Translations translations, empty(document.sentences().size());
    for (const std::string& sentence : document.sentences()) {
      ASSERT_FALSE(sentence.empty());
      ASSERT_EQ(sentence.find_first_of("\n\r\t"), sentence.npos);
      translations.push_back(nonsense(sentence, random));
    }
    for (const std::string& out : {document.assemble(translations), document.assemble(empty)})
      ASSERT_EQ(markup_of(out), markup_of(html)) << html << "\n" << out;
  }
}

}  // namespace
}  // namespace dragoman
