#include "vocab/bpe_merges.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

std::string encoded(const std::string& merges, std::string_view line) {
  return fmt::format("{}", fmt::join(bpe_segmentation(merges, "codes")->encode(line).pieces, " "));
}

std::string message(const std::string& merges) {
  try {
    const BpeMerges read(merges, "codes");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The first 40 merges of Multi30k's German side.
const std::string german =
    "#version: 0.2\ne i\ne n</w>\nei n\ne r</w>\nc h\nu n\nei n</w>\na u\na n\ne r\ne m</w>\ns ch\ne n\nein em</w>\n"
    "s t\nun d</w>\ni n</w>\nm i\ne l\nein e</w>\nr a\na r\nmi t</w>\nau f</w>\ni n\nm an\ng e\nd er</w>\n"
    "man n</w>\nein er</w>\ns i\ns p\ne i</w>\nd i\nc h</w>\ne h\nv o\nk l\ndi e</w>\nt en</w>\n";

// Sennrich et al. 2016, section 3.2.
TEST(BpeMerges, SplitTheWordOfThePaper) {
  const std::string merges = "r </w>\nl o\nlo w\ne r</w>\n";
  EXPECT_EQ(encoded(merges, "lower"), "low@@ er");
  EXPECT_EQ(encoded(merges, "low lowest newer"), "low low@@ e@@ s@@ t n@@ e@@ w@@ er");
}

// What subword-nmt 0.3.8 makes of these lines.
TEST(BpeMerges, SplitAsSubwordNmtDoes) {
  EXPECT_EQ(encoded(german, "zwei  männer stehen in einem einkaufsladen , größtenteils freien ."),
            "z@@ w@@ ei m@@ ä@@ n@@ n@@ er st@@ eh@@ en in einem ein@@ k@@ au@@ f@@ s@@ l@@ a@@ d@@ en , g@@ r@@ ö@@ "
            "ß@@ t@@ en@@ t@@ ei@@ l@@ s f@@ r@@ ei@@ en .");
  EXPECT_EQ(encoded(german, "ein ungeöffneter ééé eineinein en n </w> <unk>"),
            "ein un@@ ge@@ ö@@ f@@ f@@ n@@ e@@ t@@ er é@@ é@@ é ein@@ ein@@ ein en n <@@ /@@ w@@ > <@@ un@@ k@@ >");
  EXPECT_EQ(encoded(german, "京都 steht schwarzweißeren @@ -@@ gehenden"),
            "京@@ 都 st@@ eh@@ t sch@@ w@@ ar@@ z@@ w@@ ei@@ ß@@ er@@ en @@@ @ -@@ @@@ @ ge@@ h@@ en@@ d@@ en");
}

// The same: a merge takes all its pairs before a pair that it makes, even of a lower rank, has its turn.
TEST(BpeMerges, MergeAllPairsOfARankTogether) {
  EXPECT_EQ(encoded("#version: 0.2\nb c\nabc a\na bc\na a\n", "abcabcx aaaaax"), "abc@@ abc@@ x aa@@ aa@@ a@@ x");
}

TEST(BpeMerges, OfVersion01TakeTheEndOfAWordAsASymbol) {
  EXPECT_EQ(encoded("t h\nth e\ne </w>\nthe </w>\nn </w>\ne n</w>\n", "the then en e the</w>"),
            "the the@@ n en e the@@ <@@ /@@ w@@ >");
  EXPECT_EQ(encoded("#version: 0.1\nr </w>\n", "er"), "e@@ r");
}

TEST(BpeMerges, SplitAMebibyteInNoTime) {
  const std::string word(1 << 20, 'a');
  const BpeMerges merges("#version: 0.2\na a\naa aa\n", "codes");
  EXPECT_EQ(merges.split(word).size(), (1 << 18) + 2u) << "the last a is another symbol; before it are aa and a";
}

TEST(BpeMerges, TakeBytesThatAreNoUtf8) { EXPECT_EQ(encoded("a b\n", "\xFF\xC3 \x80\x80"), "\xFF@@ \xC3 \x80\x80"); }

TEST(BpeMerges, SayWhatIsNoFileOfMerges) {
  EXPECT_THAT(message("#version: 0.3\na b\n"), HasSubstr("codes: merges of version \"0.3\", expected 0.1 or 0.2"));
  EXPECT_THAT(message("#version: 0.2\na b\na b c\n"), HasSubstr("codes, line 3: \"a b c\" is not a merge"));
  EXPECT_THAT(message("a b\n\na c"), HasSubstr("codes, line 2: \"\" is not a merge"));
  EXPECT_THAT(message("ab\n"), HasSubstr("codes, line 1"));
  EXPECT_THAT(message("#version: 0.2\n"), HasSubstr("codes contains no merges"));
  EXPECT_EQ(message("a b\r\nc d\n\n"), "no error");
}

TEST(BpeSegmentation, JoinsWhatItSplits) {
  const auto segmentation = bpe_segmentation(german, "codes");
  for (const char* line : {"", "ein mann", "@@ -@@ x@@", "京都 ééé"})
    EXPECT_EQ(segmentation->decode(segmentation->encode(line).pieces).text, line);
  EXPECT_EQ(segmentation->decode({"a@@", "b", "c@@"}).text, "ab c");
}

}  // namespace
}  // namespace dragoman
