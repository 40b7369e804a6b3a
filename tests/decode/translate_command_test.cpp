#include <gmock/gmock.h>

#include "backend/backend.h"
#include "base/error.h"
#include "base/line_reader.h"
#include "cli/commands.h"
#include "cli/translate_options.h"
#include "tests/decode/tiny_translator.h"
#include "tests/engine.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"
#include "tests/train/log_lines.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::SizeIs;

class TranslateCommand : public testing::Test {
 protected:
  TranslateCommand() {
    TinyModel().save(folder / "m.safetensors");
    options.models = {folder / "m.safetensors"};
    options.output = folder / "out";
    options.beam_size = 3;
    options.max_length_add = 2;
  }
  std::vector<std::string> lines_for(const std::string& text) {
    options.input = folder.make("in", text);
    EXPECT_EQ(translate_command(engine, options), 0);
    return read_lines(options.output);
  }
  std::string error_for(const std::string& text) {
    try {
      lines_for(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder;
  TranslateCommandOptions options;
};

TEST_F(TranslateCommand, TranslatesFilesAlsoWithoutALastLineBreak) {
  const auto lines = lines_for("Where is the castle?\n\nHow much is a ticket?");
  EXPECT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines_for("Where is the castle?\r\n\r\nHow much is a ticket?\r\n"), lines);
  EXPECT_THAT(lines_for(""), SizeIs(0));
}

TEST_F(TranslateCommand, WritesNBestListsAsMarianDoes) {
  options.n_best = 3;
  const auto lines = lines_for("Where is the castle?\n\n");
  ASSERT_THAT(lines, SizeIs(4));
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(lines[i], MatchesRegex("0 \\|\\|\\| .* \\|\\|\\| F0= -[0-9.]+ \\|\\|\\| -[0-9.]+"));
  EXPECT_EQ(lines[3], "1 |||  ||| F0= 0 ||| 0");
}

TEST_F(TranslateCommand, PutsLogProbabilitiesBeforeTranslations) {
  const std::string plain = lines_for("Where is the castle?\n")[0];
  options.scores = true;
  EXPECT_THAT(lines_for("Where is the castle?\n\n"), ElementsAre(MatchesRegex("-[0-9.]+\t.*"), "0\t"));
  EXPECT_THAT(lines_for("Where is the castle?\n")[0], testing::EndsWith("\t" + plain));
}

TEST_F(TranslateCommand, ReadsAndWritesCompressedFiles) {
  const auto lines = lines_for("Where is the castle?\n");
  options.output = folder / "out.gz";
  EXPECT_EQ(lines_for("Where is the castle?\n"), lines);
}

TEST_F(TranslateCommand, SaysOnceThatInt8IsSlowerWithoutItsInstructions) {
  const auto said = [&](Precision precision) {
    options.precision = precision;
    const LogLines log;
    lines_for("Where is the castle?\n");
    return log.lines();
  };
  const auto note = HasSubstr(
      "has no int8 instructions (VNNI; on ARM, dot product): int8 gives the same translations, but more slowly");
  const int times = backend("cpu").multiplies_int8 ? 0 : 1;
  EXPECT_THAT(said(Precision::int8), testing::Contains(note).Times(times));
  EXPECT_THAT(said(Precision::float32), Not(testing::Contains(note)));
}

TEST_F(TranslateCommand, LeavesTheOutputAloneWhenTheModelIsNone) {
  folder.make("out", "precious\n");
  options.models = {folder.make("bad", "no model")};
  EXPECT_THAT(error_for("text\n"), HasSubstr("/bad"));
  EXPECT_EQ(folder.content_of("out"), "precious\n");
}

TEST_F(TranslateCommand, AveragesModelsAndNamesThemWhenTheirVocabulariesDiffer) {
  const auto alone = lines_for("Where is the castle?\n");
  options.models.push_back(options.models[0]);
  EXPECT_EQ(lines_for("Where is the castle?\n"), alone);
  options.n_best = 1;
  EXPECT_THAT(lines_for("Where is the castle?\n")[0], MatchesRegex(".* \\|\\|\\| F0= (.*) F1= .* \\|\\|\\| .*"));
  options.models.push_back(save_toy_model(folder / "other", 1, toy_config(), toy_vocabulary("unigram")));
  EXPECT_THAT(error_for("text\n"), testing::AllOf(HasSubstr("m.safetensors and "), HasSubstr("/other cannot"),
                                                  HasSubstr("source vocabularies differ")));
}

TEST_F(TranslateCommand, TranslatesALineThatIsLongerThanAMebibyteInParts) {
  const std::string gap(3 << 20, ' ');
  const auto apart = lines_for("Where is the castle?\nHow much is a ticket?\n");
  const std::string text = "\nWhere is the castle?" + gap + "How much is a ticket?\nWhere is the castle?\n";
  EXPECT_THAT(lines_for(text), ElementsAre("", apart[0] + " " + apart[1], apart[0]));
  options.scores = true;
  EXPECT_THAT(lines_for(text)[1], MatchesRegex("-[0-9.]+\t.*"));
  EXPECT_THAT(lines_for(text)[1], testing::EndsWith("\t" + apart[0] + " " + apart[1]));
}

}  // namespace
}  // namespace dragoman
