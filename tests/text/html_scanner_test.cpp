#include "text/html_scanner.h"

#include <gmock/gmock.h>

#include "text/html_references.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Strings = std::vector<std::string>;

Strings scanned(std::string_view html, bool foreign = false) {
  HtmlScanner scanner(html);
  Strings bytes;
  while (const auto token = scanner.next(foreign)) bytes.emplace_back(token->bytes);
  return bytes;
}

TEST(HtmlScanner, CutsAsABrowserDoes) {
  EXPECT_THAT(scanned("a<B x='>' y=\">\">b</b >"), ElementsAre("a", "<B x='>' y=\">\">", "b", "</b >"));
  EXPECT_THAT(scanned("1<2<a<3>"), ElementsAre("1", "<2", "<a<3>"));
  EXPECT_THAT(scanned("<!--a--><!--><!---><!-- -- --!>x"),
              ElementsAre("<!--a-->", "<!-->", "<!--->", "<!-- -- --!>", "x"));
  EXPECT_THAT(scanned("<!DOCTYPE html><?a?></><//>"), ElementsAre("<!DOCTYPE html>", "<?a?>", "</>", "<//>"));
  EXPECT_THAT(scanned("<style>a<b></styles></STYLE>c"), ElementsAre("<style>", "a<b></styles>", "</STYLE>", "c"));
  EXPECT_THAT(scanned("<title><b></title>"), ElementsAre("<title>", "<b>", "</title>"));
  EXPECT_THAT(scanned("<![CDATA[a>]]>"), ElementsAre("<![CDATA[a>", "]]>"));
  EXPECT_THAT(scanned("<![CDATA[a>]]>", true), ElementsAre("<![CDATA[a>]]>"));
  EXPECT_THAT(scanned("<style><b>", true), ElementsAre("<style>", "<b>"));
  EXPECT_THAT(scanned(""), IsEmpty());
}

TEST(HtmlScanner, FindsTheEndOfAScript) {
  EXPECT_THAT(scanned("<script>a</script>b"), ElementsAre("<script>", "a", "</script>", "b"));
  EXPECT_THAT(scanned("<script><!--<script></script>--></script>b"),
              ElementsAre("<script>", "<!--<script></script>-->", "</script>", "b"));
  EXPECT_THAT(scanned("<script><!--></script>b"), ElementsAre("<script>", "<!-->", "</script>", "b"));
  EXPECT_THAT(scanned("<script><!-- </script>b"), ElementsAre("<script>", "<!-- ", "</script>", "b"));
  EXPECT_THAT(scanned("<script></script>"), ElementsAre("<script>", "</script>"));
}

TEST(HtmlScanner, KeepsATagThatTheTextEndsIn) {
  for (const char* tag : {"<b", "<b x", "<b x=", "<b x='>", "<b/", "</b", "<!-", "<!--", "<?", "</3"})
    EXPECT_THAT(scanned("a" + std::string(tag)), ElementsAre("a", tag));
  EXPECT_THAT(scanned("a<"), ElementsAre("a", "<"));
}

TEST(HtmlScanner, ReadsNamesAndAttributes) {
  const auto tag = HtmlScanner("<A-b\nHREF = x/y Class='p Q'b=\"&lt;\"c =d/>").next(false);
  ASSERT_TRUE(tag);
  EXPECT_EQ(tag->name, "a-b");
  Strings attributes;
  for (const auto& [name, value] : tag->attributes) attributes.push_back(name + "|" + std::string(value));
  EXPECT_THAT(attributes, ElementsAre("href|x/y", "class|p Q", "b|&lt;", "c|d/"));
  EXPECT_FALSE(tag->self_closing) << "the slash is of the value";
  EXPECT_TRUE(HtmlScanner("<x />").next(false)->self_closing);
}

// Cases of the HTML standard, 13.2.5.72 and following.
TEST(HtmlReferences, AreReadAsTheStandardSays) {
  const auto read = [](std::string_view text) {
    const HtmlReference reference = html_reference(text);
    return reference.stands_for + std::string(text.substr(reference.bytes));
  };
  EXPECT_EQ(read("&amp;b"), "&b");
  EXPECT_EQ(read("&eacute"), "é");
  EXPECT_EQ(read("&notit;"), "¬it;");
  EXPECT_EQ(read("&notin;"), "∉");
  EXPECT_EQ(read("&NotEqualTilde;"), "≂\u0338");
  EXPECT_EQ(read("&CounterClockwiseContourIntegral;x"), "∳x");
  EXPECT_EQ(read("&#65;&"), "A&");
  EXPECT_EQ(read("&#x1F600"), "😀");
  EXPECT_EQ(read("&#x80;"), "€");
  for (const char* none : {"&#0;", "&#xD800;", "&#x110000;", "&#99999999999;"}) EXPECT_EQ(read(none), "\uFFFD") << none;
  for (const char* text : {"&", "&;", "&#;", "&#x;", "&x", "&nosuchname;", "& amp;", "&emsp"})
    EXPECT_EQ(read(text), text);
}

}  // namespace
}  // namespace dragoman
