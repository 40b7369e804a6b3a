#include "metrics/evalb.h"

#include <gmock/gmock.h>

#include "base/error.h"

// All expected counts are worked by hand.
namespace dragoman {
namespace {

using testing::HasSubstr;

EvalbStats stats_of(std::string_view hypothesis, std::string_view reference) {
  const auto tree = read_tree(reference);
  EXPECT_TRUE(tree.has_value()) << reference;
  return evalb_stats(hypothesis, *tree);
}

// matched, of the hypothesis, of the reference
using Counts = std::array<int64_t, 3>;
Counts counts_of(std::string_view hypothesis, std::string_view reference) {
  const EvalbStats stats = stats_of(hypothesis, reference);
  EXPECT_EQ(stats.lines, 1);
  EXPECT_EQ(stats.malformed, 0);
  return {stats.matched, stats.of_hypothesis, stats.of_reference};
}

// S 0-7, NP 0-2, VP 2-7, NP 3-7, NP 3-5, PP 5-7, NP 6-7: "." is not counted.
constexpr std::string_view telescope =
    "(TOP (S (NP (DT The) (NN man)) (VP (VBD saw) (NP (NP (DT a) (NN girl)) (PP (IN with) (NP (NNS eyes))))) (. .)))";

}  // namespace

TEST(ReadTree, FindsWordsAndConstituents) {
  const auto tree = read_tree(" (S (NP (DT the)(NN cat) ) (VP (VBZ sleeps)))\n");
  ASSERT_TRUE(tree.has_value());
  ASSERT_EQ(tree->words.size(), 3u);
  EXPECT_EQ(tree->words[1].tag, "NN");
  EXPECT_EQ(tree->words[1].text, "cat");
  ASSERT_EQ(tree->constituents.size(), 3u);
  EXPECT_EQ(tree->constituents[1].label, "NP");
  EXPECT_EQ(tree->constituents[1].begin, 0u);
  EXPECT_EQ(tree->constituents[1].end, 2u);
  EXPECT_EQ(tree->constituents[2].begin, 2u);
}

TEST(ReadTree, FindsNoneInBrokenLines) {
  for (const std::string_view line : {"", " ", "()", "(S)", "(S (NN cat)", "(S (NN cat)))", ")(NN cat)(", "cat",
                                      "(NP the cat)", "(NP (DT the) cat)", "(NP (DT the)) cat", "(NN cat", "(("})
    EXPECT_FALSE(read_tree(line).has_value()) << line;
}

TEST(Evalb, CountsEveryConstituentOfAnEqualTree) {
  EXPECT_EQ(counts_of(telescope, telescope), (Counts{7, 7, 7}));
  EXPECT_EQ(stats_of(telescope, telescope).complete, 1);
}

// The phrase with "with" is attached to the verb: S, NP 0-2, VP, NP 3-5, PP, NP 6-7 are right, NP 3-7 is missing.
TEST(Evalb, CountsWhatIsMissing) {
  EXPECT_EQ(
      counts_of("(S (NP (DT The) (NN man)) (VP (VBD saw) (NP (DT a) (NN girl)) (PP (IN with) (NP (NNS eyes)))) (. .))",
                telescope),
      (Counts{6, 6, 7}));
}

TEST(Evalb, WantsLabelAndSpanRight) {
  EXPECT_EQ(counts_of("(S (NP (NN a)) (VP (VB b) (NP (NN c))))", "(S (NP (NN a)) (VP (VB b) (PP (NN c))))"),
            (Counts{3, 4, 4}));
  EXPECT_EQ(counts_of("(S (NP (NN a) (VB b)) (VP (NN c)))", "(S (NP (NN a)) (VP (VB b) (NN c)))"), (Counts{1, 3, 3}));
}

TEST(Evalb, MatchesEqualConstituentsOnce) {
  EXPECT_EQ(counts_of("(NP (NP (NP (NN a))))", "(NP (NP (NN a)))"), (Counts{2, 3, 2}));
  EXPECT_EQ(counts_of("(NP (NN a))", "(NP (NP (NN a)))"), (Counts{1, 1, 2}));
}

TEST(Evalb, IgnoresTheOutermostLabel) {
  for (const char* root :
       {"(TOP (S (NN a) (NN b)))", "(ROOT (S (NN a) (NN b)))", "( (S (NN a) (NN b)))", "(S (NN a) (NN b))"})
    EXPECT_EQ(counts_of(root, "(S (NN a) (NN b))"), (Counts{1, 1, 1})) << root;
}

TEST(Evalb, LeavesOutPunctuationAndWhatHoldsNothingElse) {
  EXPECT_EQ(counts_of("(S (NP (NN a) (, ,)) (VP (VB b)) (. .))", "(S (NP (NN a)) (, ,) (VP (VB b) (. .)))"),
            (Counts{3, 3, 3}));
  EXPECT_EQ(counts_of("(S (NP (NN a)) (PRN (: --)) (VP (VB b)))", "(S (NP (NN a)) (: --) (VP (VB b)))"),
            (Counts{3, 3, 3}));
  EXPECT_EQ(counts_of("(S (`` ``) (NP (NN a)) ('' '') (VP (VB b)))", "(S (NP (`` ``) (NN a) ('' '')) (VP (VB b)))"),
            (Counts{3, 3, 3}));
}

TEST(Evalb, LeavesOutTraces) {
  EXPECT_EQ(
      counts_of("(S (NP (NN a)) (VP (VB b)))", "(S (NP-SBJ (NN a)) (VP (VB b) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))))"),
      (Counts{3, 3, 3}));
}

TEST(Evalb, ComparesLabelsUpToTheirFunction) {
  EXPECT_EQ(counts_of("(S (NP (NN a)) (PP (IN b)))", "(S (NP-SBJ-1 (NN a)) (PP=2 (IN b)))"), (Counts{3, 3, 3}));
}

TEST(Evalb, TakesAdvpAndPrtForOneLabel) {
  EXPECT_EQ(counts_of("(VP (VB give) (ADVP (RB up)))", "(VP (VB give) (PRT (RP up)))"), (Counts{2, 2, 2}));
}

// EVALB would delete one "," but not the other, and skip the line.
TEST(Evalb, TakesTheTagsOfTheReferenceWhereThoseOfTheHypothesisNameOtherPunctuation) {
  EXPECT_EQ(counts_of("(S (NP (XX a)) (XX ,) (VP (XX b)))", "(S (NP (NN a) (, ,)) (VP (VB b)))"), (Counts{3, 3, 3}));
  EXPECT_EQ(counts_of("(S (NP (NN a)) (. b))", "(S (NP (NN a)) (VP (VB b)))"), (Counts{2, 2, 3}));
}

TEST(Evalb, TakesAMalformedTreeForOneWithoutConstituents) {
  const EvalbStats stats = stats_of("(S (NP (DT The) (NN man)", telescope);
  EXPECT_EQ(stats.malformed, 1);
  EXPECT_EQ(stats.lines, 1);
  EXPECT_EQ(stats.of_reference, 7);
  EXPECT_EQ(stats.of_hypothesis, 0);
  EXPECT_EQ(stats_of("", telescope).malformed, 1);
}

TEST(Evalb, LeavesOutALineWithOtherWords) {
  for (const char* other : {"(S (NN a) (NN c))", "(S (NN a))", "(S (NN a) (NN b) (NN b))"}) {
    const EvalbStats stats = stats_of(other, "(S (NN a) (NN b))");
    EXPECT_EQ(stats.other_words, 1) << other;
    EXPECT_EQ(stats.lines + stats.of_reference + stats.of_hypothesis, 0) << other;
  }
}

// Lines: 7 of 7 and 7; 1 of 3 and 3; malformed with 2; left out. 8 of 10 and of 12.
TEST(Evalb, AddsUpCountsOverLines) {
  const std::vector<std::string> hypotheses = {std::string(telescope), "(S (NP (NN a) (VB b)) (VP (NN c)))", "(S (",
                                               "(S (NN x))"};
  const std::vector<std::string> lines = {std::string(telescope), "(S (NP (NN a)) (VP (VB b) (NN c)))",
                                          "(S (NP (NN a)) (VB b))", "(S (NN y))"};
  const Evalb result = evalb(sum_of(evalb_of_lines(hypotheses, read_trees(lines, "gold"))));
  EXPECT_DOUBLE_EQ(result.precision, 80);
  EXPECT_NEAR(result.recall, 200.0 / 3, 1e-9);
  EXPECT_NEAR(result.f1, 2 * 80 * (200.0 / 3) / (80 + 200.0 / 3), 1e-9);
  EXPECT_NEAR(result.complete, 100.0 / 3, 1e-9);
  EXPECT_EQ(result.stats.malformed, 1);
  EXPECT_EQ(result.stats.other_words, 1);
}

TEST(Evalb, OfNothingIsZero) {
  EXPECT_EQ(evalb({}).f1, 0);
  EXPECT_EQ(evalb({}).complete, 0);
}

TEST(Evalb, NamesTheLineOfAReferenceThatIsNoTree) {
  const std::vector<std::string> lines = {"(S (NN a))", "(S (NN a)"};
  try {
    read_trees(lines, "gold.mrg");
    FAIL() << "a broken reference was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gold.mrg, line 2: expected a tree"));
  }
}

}  // namespace dragoman
