#include <gmock/gmock.h>

#include "base/error.h"
#include "base/line_reader.h"
#include "cli/commands.h"
#include "cli/vocab_options.h"
#include "tests/engine.h"
#include "tests/read_lines.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/vocab/travel_text.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class VocabCommand : public testing::Test {
 protected:
  // The lines that come out when these go in.
  std::vector<std::string> filter(VocabOptions options, const std::string& text) {
    if (options.model.empty()) options.model = source_dir() + "/tests/vocab/golden/bpe.spm";
    options.inputs = {folder.make("in", text)};
    options.output = folder / "out";
    EXPECT_EQ(vocab_command(engine, options), 0);
    return read_lines(options.output);
  }

  TemporaryFolder folder;
};

// The first two as the Python package writes them: tests/vocab/golden/expected.json.
TEST_F(VocabCommand, EncodesLineByLine) {
  EXPECT_THAT(filter({.action = VocabAction::encode}, "Where is the castle?\n\n \nWhere is the castle?"),
              ElementsAre("▁W here ▁is ▁the ▁ c a st l e ?", "", "", "▁W here ▁is ▁the ▁ c a st l e ?"));
  EXPECT_THAT(filter({.action = VocabAction::encode, .ids = true}, "Where is the castle?\n"),
              ElementsAre("265 279 294 261 300 318 307 262 310 301 316"));
}

TEST_F(VocabCommand, DecodesLineByLine) {
  EXPECT_THAT(filter({.action = VocabAction::decode}, "▁W here ▁is ▁the ▁ c a st l e ?\n\n▁a <0x0A> b </s>\n"),
              ElementsAre("Where is the castle?", "", "a b"));
  EXPECT_THAT(filter({.action = VocabAction::decode, .ids = true}, "265 279 294 261\n\n"),
              ElementsAre("Where is the", ""));
}

TEST_F(VocabCommand, SaysWhereANumberIsNone) {
  for (const std::string bad : {"7 x", "340", "-1", "7.5", "99999999999"}) try {
      filter({.action = VocabAction::decode, .ids = true}, "265\n" + bad + "\n");
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("/in, line 2: \"" + bad.substr(bad.rfind(' ') + 1)));
      EXPECT_THAT(error.what(), HasSubstr("expected 0 to 339"));
    }
}

TEST_F(VocabCommand, KeepsEveryLineOfALongTextInOrder) {
  std::string text;
  std::vector<std::string> lines;
  for (int round = 0; round < 8; ++round)
    for (const auto& line : travel_text()) {
      lines.push_back(line + std::to_string(lines.size()));
      text += lines.back() + "\n";
    }
  filter({.action = VocabAction::encode}, text);
  EXPECT_EQ(filter({.action = VocabAction::decode}, folder.content_of("out")), lines);
}

TEST_F(VocabCommand, SamplesTheSameFromTheSameSeedOnly) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "Where is the castle?\n";
  const auto once = filter({.action = VocabAction::encode, .alpha = 0.3, .seed = 1}, text);
  EXPECT_EQ(filter({.action = VocabAction::encode, .alpha = 0.3, .seed = 1}, text), once);
  EXPECT_NE(filter({.action = VocabAction::encode, .alpha = 0.3, .seed = 2}, text), once);
  EXPECT_FALSE(std::equal(once.begin(), once.begin() + 1000, once.begin() + 1024)) << "two blocks";
}

TEST_F(VocabCommand, InspectsWhatAModelHolds) {
  filter({.action = VocabAction::inspect}, "");
  const std::string page = folder.content_of("out");
  for (const auto* line : {"pieces         340\n", "type           bpe\n", "normalization  identity\n",
                           "special        <unk> 0, <s> 1, </s> 2\n", "byte pieces    256 (75.3 %)\n"})
    EXPECT_THAT(page, HasSubstr(line));
}

TEST_F(VocabCommand, TakesAListOfTokens) {
  const std::string list = folder.make("v.yml", "</s>: 0\n<unk>: 1\na: 2\n\"\\xE4\": 3\n");
  const auto lines = [&](VocabOptions options, const std::string& text) {
    options.model = list;
    return filter(options, text);
  };
  EXPECT_THAT(lines({.action = VocabAction::encode}, "a  ä x\n\n"), ElementsAre("a ä x", ""));
  EXPECT_THAT(lines({.action = VocabAction::encode, .ids = true}, "a  ä x </s>\n"), ElementsAre("2 3 1 1"));
  EXPECT_THAT(lines({.action = VocabAction::decode, .ids = true}, "2 3 1 0\n"), ElementsAre("a ä ⁇"));
  EXPECT_THAT(lines({.action = VocabAction::decode}, "a ä x\n"), ElementsAre("a ä x"));
  EXPECT_THAT(lines({.action = VocabAction::inspect}, ""),
              testing::IsSupersetOf({"pieces         4", "type           tokens", "special        <unk> 1, </s> 0",
                                     "first pieces   a ä"}));
  EXPECT_THROW(lines({.action = VocabAction::encode, .alpha = 0.1}, "a\n"), Error);
}

}  // namespace
}  // namespace dragoman
