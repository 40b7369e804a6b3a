#include "base/error.h"
#include "tests/fuzz/target.h"
#include "tests/text/html_markup.h"
#include "tests/text/word_for_word.h"
#include "text/document.h"

namespace dragoman {
namespace {

std::string put_together(const Document& document, TranslatedSentence (*translate)(const std::string&)) {
  std::vector<TranslatedSentence> translations;
  for (size_t i = 0; i < document.sentences().size(); ++i) {
    translations.push_back(translate(document.sentences()[i]));
    if (i % 3 == 2) translations.back().links.clear();
    document.needs_links(i);
  }
  return document.assemble(translations);
}

}  // namespace

std::vector<std::string> seeds() {
  return {
      "One. Dr. Two!\r\n\r\n  z. B. \"Three?\" (four)\t今日。明日。\n",
      "<!doctype html><html lang=en><head><title>A &amp; B</title><style>p{}</style></head><body class='x'>"
      "<p>One <b>two <i>three</i></b>, <a href=\"?a=1&amp;b=2\">four</a>.<br>Five<img src=x> &eacute;&nbsp;6 &#x1F600;"
      "<!-- c --><ul><li>a<li translate=no>b</ul><code>f()</code> g <pre> h </pre></body></html>",
      "<table><tr><td><p>x<td>y</table><svg><path "
      "d='m'/><title>t</title></svg><script><!--<script>'</script>--></script>",
      "a <b>b. C</b> d <i>e<u>f</i>g</u></p><div><span class=notranslate>h<div translate=yes>i</div></span> &lt;j",
  };
}

// Plain text with its own sentences is as it was. HTML has the same tags, scripts and comments with any translation.
void read(std::string_view input) {
  const Document text{std::string(input), DocumentFormat::text, "de"};
  invariant(put_together(text, word_for_word) == input, "plain text with its own sentences is as it was");
  const Document html{std::string(input), DocumentFormat::html, "en"};
  for (const auto translate : {word_for_word, words_reversed})
    invariant(markup_of(put_together(html, translate)) == markup_of(input), "each tag comes out once");
}

}  // namespace dragoman
