#include "vocab/piece_list.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "tests/error_of.h"
#include "vocab/yaml_line.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string yaml_message(std::string_view text) {
  return error_of([&] { pieces_of_yaml(text, "v.yml"); });
}

TEST(PieceList, ReadsMariansYaml) {
  EXPECT_THAT(pieces_of_yaml("---\n</s>: 0\n<unk>: 1\n.: 3\n\"\\u2581the\": 2\r\n# a comment\n", "v.yml"),
              ElementsAre("</s>", "<unk>", "▁the", "."));
  EXPECT_THAT(pieces_of_yaml("{\"a\": 1, \"</s>\": 0}", "v.yml"), ElementsAre("</s>", "a")) << "JSON is YAML";
}

// Each as a reader of YAML without a schema has it.
TEST(PieceList, UndoesYamlsQuotes) {
  const std::pair<const char*, const char*> lines[] = {
      {R"("\"": 5)", "\""},
      {R"("\\": 5)", "\\"},
      {R"("a: b": 5)", "a: b"},
      {R"('''': 5)", "'"},
      {R"('"x''': 5)", "\"x'"},
      {R"(null: 5)", "null"},
      {R"(~: 5)", "~"},
      {R"(a:b: 5)", "a:b"},
      {R"(-: 5)", "-"},
      {R"("\xe4\u00df": 5)", "äß"},
      {R"("\t\e\_": 5)", "\t\x1b\u00a0"},
      {R"("\U0001F600": 5)", "😀"},
      {R"("\ud83d\ude00": 5)", "😀"},
      {R"("#": 5)", "#"},
      {R"('' : 5 )", ""},
      {R"(a#b:  5)", "a#b"},
      {R"(▁x"y: 5)", "▁x\"y"},
  };
  for (const auto& [line, piece] : lines) {
    const auto entry = parse_yaml_line(line);
    ASSERT_TRUE(entry) << line;
    EXPECT_EQ(entry->piece, piece) << line;
    EXPECT_EQ(entry->id, 5) << line;
  }
}

TEST(PieceList, SaysWhatIsNoLineOfYaml) {
  for (const char* line :
       {"a", "a:5", "a: x", "a: 5 6", ": 5", "\"a: 5", "'a: 5", R"("\q": 5)", R"("\u12": 5)", R"("\ud83d": 5)",
        R"("\ud83dx": 5)", R"("\U00110000": 5)", "\"a\" 5", "  a: 5", "- a", "\"\\", "a: 99999999999999999999"})
    EXPECT_FALSE(parse_yaml_line(line)) << line;
  EXPECT_THAT(yaml_message("a: 0\nb\n"), HasSubstr("v.yml, line 2: \"b\", expected PIECE: ID"));
}

TEST(PieceList, TakesOldNamesOfTheFirstIdsOrNone) {
  EXPECT_THAT(pieces_of_yaml("the: 2\n", "v.yml"), ElementsAre("</s>", "<unk>", "the"));
  EXPECT_THAT(pieces_of_yaml("the: 2\neos: 0\n", "v.yml"), ElementsAre("eos", "<unk>", "the"));
  EXPECT_THAT(pieces_of_yaml("the: 2\nUNK: 1\neos: 0\n", "v.yml"), ElementsAre("eos", "UNK", "the"));
}

TEST(PieceList, FindsMariansSpecialPieces) {
  const auto special = [](const std::vector<std::string>& pieces) {
    const SpecialPieces s = marian_special(pieces);
    return std::vector{s.eos, s.unk, s.bos, s.pad};
  };
  EXPECT_THAT(special({"</s>", "<unk>", "a"}), ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(special({"eos", "UNK", "</s>", "<unk>"}), ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(special({"a", "b", "</s>", "<unk>"}), ElementsAre(2, 3, -1, -1));
  EXPECT_THAT(special({"<EOS>", "<UNK>", "a"}), ElementsAre(0, 1, -1, -1));
}

TEST(PieceList, NamesIdsThatAreMissingOrTwice) {
  EXPECT_THAT(yaml_message("a: 2\nb: 4\n"), HasSubstr("v.yml: no piece has id 3, expected all from 0 to 4"));
  EXPECT_THAT(yaml_message("a: 2\nb: 2\n"), HasSubstr("v.yml: id 2 appears twice: \"a\" and \"b\""));
  EXPECT_THAT(yaml_message("a: 2\nb: -1\n"), HasSubstr("v.yml: \"b\" has id -1"));
  EXPECT_THAT(yaml_message("a: 2\nb: 4000000000000\n"), HasSubstr("no piece has id 3"));
  EXPECT_THAT(yaml_message("# nothing\n"), HasSubstr("v.yml contains no pieces"));
  EXPECT_THAT(error_of([] { pieces_of_json(R"({"a": 1})", "v.json"); }), HasSubstr("v.json: no piece has id 0"));
}

TEST(PieceList, ReadsJson) {
  EXPECT_THAT(pieces_of_json(R"({"</s>": 0, "\u2581b\"": 2, "<unk>": 1})", "v.json"),
              ElementsAre("</s>", "<unk>", "▁b\""));
  for (const char* text : {"", "[1]", "{\"a\": 0", "{\"a\": 0}}"})
    EXPECT_THAT(error_of([&] { pieces_of_json(text, "v.json"); }), HasSubstr("v.json is not a JSON object")) << text;
  for (const char* text : {"{\"a\": 0.5}", "{\"a\": \"0\"}", "{\"a\": {}}"})
    EXPECT_THAT(error_of([&] { pieces_of_json(text, "v.json"); }), HasSubstr("v.json: the id of \"a\"")) << text;
}

TEST(PieceList, ReadsLines) {
  EXPECT_THAT(pieces_of_lines("</s>\n<unk>\r\nthe", "v.txt"), ElementsAre("</s>", "<unk>", "the"));
  EXPECT_THAT(error_of([] { pieces_of_lines("a\n\nb\n", "v.txt"); }), HasSubstr("v.txt, line 2: it is empty"));
  EXPECT_THAT(error_of([] { pieces_of_file("the\na\n", "v.txt"); }), HasSubstr("v.txt has no line </s>"));
}

TEST(PieceList, QuotesAsTextWhatIsNone) {
  for (const char* text : {"\1\x1b[0m\xff", "\x02 \x7f\xfe\xff \x1b"}) {
    const std::string said = error_of([&] { pieces_of_yaml(text, "v.yml"); });
    EXPECT_TRUE(is_valid_utf8(said)) << said;
    EXPECT_TRUE(std::ranges::none_of(said, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; })) << said;
  }
}

TEST(PieceList, ReadsWhatItWrites) {
  const std::vector<std::string> pieces{"</s>", "<unk>", ":", "\"#", "null", "a\\b", "'s", "\t", "ü", "- x"};
  for (const char* name : {"v.yml", "v.json", "v.txt"})
    EXPECT_EQ(pieces_of_file(file_of_pieces(pieces, name), name), pieces) << name;
  EXPECT_EQ(file_of_pieces({"</s>", "<unk>", "the"}, "v.yml"), "\"</s>\": 0\n\"<unk>\": 1\n\"the\": 2\n");
}

TEST(PieceList, ReadsFairseqsDictionary) {
  EXPECT_THAT(pieces_of_fairseq("▁the 1234\nmadeupword0000 0\n", "dict.txt"),
              ElementsAre("<s>", "<pad>", "</s>", "<unk>", "▁the", "madeupword0000"));
  for (const char* text : {"the\n", "the x\n", " 5\n", "a 5 #fairseq:overwrite\n"})
    EXPECT_THAT(error_of([&] { pieces_of_fairseq(text, "dict.txt"); }), HasSubstr("dict.txt, line 1")) << text;
}

}  // namespace
}  // namespace dragoman
