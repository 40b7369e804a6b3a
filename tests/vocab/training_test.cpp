#include "vocab/training.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "base/utf8.h"
#include "tests/temporary_folder.h"
#include "tests/vocab/travel_text.h"
#include "vocab/model_facts.h"
#include "vocab/vocabulary.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Training : public testing::TestWithParam<VocabularyType> {
 protected:
  // A file of the text, with an end that decides the compression.
  std::string text(std::string_view name) const {
    LineWriter writer(folder / name);
    for (const auto& line : travel_text()) writer.write(line);
    writer.close();
    return folder / name;
  }

  VocabularyTraining training(std::string_view input = "text") const {
    return {.inputs = {text(input)}, .model = folder / "vocab.spm", .size = 380, .type = GetParam()};
  }

  static Error error_of(const VocabularyTraining& training) {
    try {
      train_vocabulary(training);
    } catch (const Error& error) {
      return error;
    }
    return Error("no error");
  }

  TemporaryFolder folder;
};

TEST_P(Training, MakesAVocabularyThatGivesTheTextBack) {
  train_vocabulary(training());
  const Vocabulary vocabulary = Vocabulary::load(folder / "vocab.spm");
  EXPECT_EQ(vocabulary.size(), 380);
  EXPECT_EQ(vocabulary.piece(0) + vocabulary.piece(1) + vocabulary.piece(2), "<unk><s></s>");
  EXPECT_EQ(facts_of(vocabulary.bytes()).type, name_of(GetParam()));
  for (const std::string& line : travel_text()) {
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(line)), line);
    EXPECT_LT(vocabulary.encode(line).size(), line.size());
  }
  EXPECT_EQ(vocabulary.decode(vocabulary.encode("京都 🙂")), "京都 🙂");
}

TEST_P(Training, MakesTheSameFileEveryTime) {
  train_vocabulary(training());
  const std::string once = folder.content_of("vocab.spm");
  train_vocabulary(training("text.xz"));
  EXPECT_TRUE(folder.content_of("vocab.spm") == once) << "from compressed text";
  auto sampled = training();
  sampled.sample_lines = 300;
  train_vocabulary(sampled);
  const std::string of_sample = folder.content_of("vocab.spm");
  EXPECT_FALSE(of_sample == once);
  train_vocabulary(sampled);
  EXPECT_TRUE(folder.content_of("vocab.spm") == of_sample) << "from a sample";
}

TEST_P(Training, LearnsFromTheLinesOfASample) {
  const auto learned = [&](int64_t lines, uint64_t seed) {
    std::string said;
    const LogSink sink = [&](LogLevel, std::string_view message) { said = message; };
    const LogScope scope(&sink);
    auto sampled = training();
    sampled.sample_lines = lines;
    sampled.seed = seed;
    train_vocabulary(sampled);
    EXPECT_THAT(said, StartsWith(lines == 300 ? fmt::format("Learned from 300 of {} lines", travel_text().size())
                                              : fmt::format("Learned from {} lines", travel_text().size())));
    const Vocabulary vocabulary = Vocabulary::load(folder / "vocab.spm");
    std::string pieces;
    for (int32_t id = 0; id < vocabulary.size(); ++id) pieces += vocabulary.piece(id) + " ";
    return pieces;
  };
  const std::string all = learned(0, 1), once = learned(300, 1);
  EXPECT_EQ(learned(1'000'000, 1), all) << "there are not as many lines";
  EXPECT_FALSE(once == all);
  EXPECT_FALSE(learned(300, 2) == once) << "another seed";
  auto few = training();
  few.sample_lines = 100;
  EXPECT_STREQ(error_of(few).what(), "--sentencepiece-max-lines 100, expected 101 or more, or 0 for all lines");
}

TEST_P(Training, TakesOptionsOfTheTrainer) {
  auto digits = training();
  digits.inputs.push_back(folder.make("numbers", "in 1989 and 1989 and 1989 and 1989\n"));
  const auto longest = [&] {
    train_vocabulary(digits);
    const Vocabulary vocabulary = Vocabulary::load(digits.model);
    size_t characters = 0;
    for (int32_t id = 3; id < vocabulary.size(); ++id)
      if (!vocabulary.is_byte(id)) characters = std::max(characters, size_t(count_characters(vocabulary.piece(id))));
    return characters;
  };
  EXPECT_GT(longest(), 3u);
  digits.trainer_options = trainer_options("--max_sentencepiece_length=3 --split_digits");
  EXPECT_EQ(longest(), 3u);
  digits.trainer_options = trainer_options("--byte_fallback=false");
  digits.size = 100;
  train_vocabulary(digits);
  EXPECT_FALSE(Vocabulary::load(digits.model).has_byte_fallback());
  digits.size = 380;
  digits.trainer_options = trainer_options("--normalization_rule_tsv=" + (folder / "nowhere.tsv"));
  EXPECT_THAT(error_of(digits).what(), HasSubstr("nowhere.tsv"));
}

TEST(TrainerOptions, AreCheckedBeforeTheTextIsRead) {
  EXPECT_EQ(
      trainer_options(" --split_digits  --hard_vocab_limit=0 --character_coverage=0.9995 "),
      (TrainerOptions{{"split_digits", "true"}, {"hard_vocab_limit", "false"}, {"character_coverage", "0.9995"}}));
  EXPECT_TRUE(have_soft_limit(trainer_options("--hard_vocab_limit=false")));
  EXPECT_FALSE(have_soft_limit(trainer_options("")));
  const auto said = [](const char* words) {
    try {
      trainer_options(words);
    } catch (const Error& error) {
      return fmt::format("{} | {}", error.what(), error.hint());
    }
    return std::string("no error");
  };
  EXPECT_THAT(said("--vocab_size=8000"), HasSubstr("--vocab_size is not for this option to set | use --dim-vocabs"));
  EXPECT_THAT(said("--user_defined_symbols=a,b"), HasSubstr("use --protected-symbols"));
  EXPECT_THAT(said("--treat_whitespace_as_suffix"), HasSubstr("'treat_whitespace_as_suffix' is not one of allow_"));
  EXPECT_THAT(said("--character_coverage=0.5"), HasSubstr("'0.5' is not a number from 0.98 to 1"));
  EXPECT_THAT(said("--num_sub_iterations=1.5"), HasSubstr("'1.5' is not a whole number from 1 to 10"));
  EXPECT_THAT(said("--split_digits=maybe"), HasSubstr("'maybe' is neither true nor false"));
  EXPECT_THAT(said("--required_chars"), HasSubstr("needs a value"));
  EXPECT_THAT(said("split_digits"), HasSubstr("'split_digits' does not begin with two dashes"));
}

TEST_P(Training, ReadsHostileText) {
  auto hostile = training();
  hostile.inputs.push_back(folder.make("hostile", std::string("a\0b\n\n \n\xFF\xFE\n</s> <s>\n\t\n", 21)));
  hostile.inputs.push_back(folder.make("long", std::string(1 << 20, 'm') + "\nno end"));
  train_vocabulary(hostile);
  EXPECT_EQ(Vocabulary::load(hostile.model).size(), 380);
}

TEST_P(Training, SaysTheLargestSizeThatTheTextCanFill) {
  auto large = training();
  large.size = 20'000;
  const Error error = error_of(large);
  EXPECT_THAT(error.what(), HasSubstr("the text is too small for a vocabulary of 20,000 pieces, expected at most "));
  EXPECT_EQ(folder.files(), 1) << "nothing but the text";
  EXPECT_THAT(error.hint(), StartsWith("set --size to "));
  large.size = std::atoi(error.hint().substr(std::string("set --size to ").size()).c_str());
  EXPECT_STREQ(error_of(large).what(), "no error") << large.size;
  large.size = 20'000;
  large.size_option = "--dim-vocabs";
  EXPECT_THAT(error_of(large).hint(), StartsWith("set --dim-vocabs to "));
}

TEST_P(Training, SaysTheSmallestSizeThatHoldsTheCharacters) {
  auto small = training();
  small.size = 262;
  const std::string message = error_of(small).what();
  EXPECT_THAT(message, HasSubstr("cannot hold the characters of the text, expected at least "));
  small.size = std::atoi(message.substr(message.rfind(' ')).c_str());
  EXPECT_STREQ(error_of(small).what(), "no error") << small.size;
}

TEST_P(Training, KeepsProtectedSymbolsInOnePiece) {
  auto with_symbols = training();
  with_symbols.protected_symbols = {"<2de>", "a,\"b"};
  train_vocabulary(with_symbols);
  const Vocabulary vocabulary = Vocabulary::load(with_symbols.model);
  EXPECT_EQ(vocabulary.piece(3) + " " + vocabulary.piece(4), "<2de> a,\"b");
  EXPECT_EQ(facts_of(vocabulary.bytes()).protected_symbols, with_symbols.protected_symbols);
  for (const std::string line : {"<2de> Where is the hotel?", "<2de>where", "is <2de>"}) {
    EXPECT_EQ(std::ranges::count(vocabulary.encode(line), 3), 1) << line;
    EXPECT_EQ(std::ranges::count(vocabulary.encode_block(std::vector{line}, 0.5, 1)[0], 3), 1) << line;
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(line)), line);
  }
}

TEST_P(Training, RefusesWhatCannotWork) {
  auto options = training();
  options.normalization = "nfd";
  EXPECT_THAT(error_of(options).what(), HasSubstr("unknown normalization \"nfd\", expected one of nmt_nfkc, nfkc"));
  options = training();
  for (const std::string bad : {"</s>", "", "<2 de>"}) {
    options.protected_symbols = {bad};
    EXPECT_THAT(error_of(options).what(), HasSubstr("\"" + bad + "\" cannot be a protected symbol"));
  }
  options.protected_symbols = {"<0x4A>"};
  EXPECT_THAT(error_of(options).what(),
              HasSubstr("\"<0x4A>\" cannot be a protected symbol, it is the piece of a byte"));
  options.protected_symbols = {"a\xff"};
  EXPECT_THAT(error_of(options).what(), HasSubstr("\"a\uFFFD\" cannot be a protected symbol, expected valid UTF-8"));
  options.protected_symbols = {"<2de>", "<2fr>", "<2de>"};
  EXPECT_THAT(error_of(options).what(), HasSubstr("\"<2de>\" cannot be a protected symbol"));
  options = training();
  options.character_coverage = 0.97;
  EXPECT_THAT(error_of(options).what(), HasSubstr("a character coverage of 0.97, expected 0.98 to 1"));
  options = training();
  options.size = 200;
  EXPECT_THAT(error_of(options).what(), HasSubstr("--size 200 is too small, expected at least 260"));
  options.inputs = {folder.make("blank", "\n  \n\t\n")};
  options.size = 380;
  EXPECT_THAT(error_of(options).what(), HasSubstr("blank: no text to learn a vocabulary from"));
  options.inputs = {folder / "gone"};
  EXPECT_THAT(error_of(options).what(), HasSubstr("gone: cannot be opened"));
}

TEST_P(Training, NamesLinesThatAreTooLongToLearnFrom) {
  std::string said;
  const LogSink sink = [&](LogLevel, std::string_view message) { said += std::string(message) + "\n"; };
  const LogScope scope(&sink);
  auto options = training();
  const std::string more =
      folder.make("long", "short\n" + std::string(70'000, 'a') + "\n" + std::string(65'537, 'b') + "\n");
  options.inputs.push_back(more);
  train_vocabulary(options);
  EXPECT_THAT(said,
              HasSubstr(more + ": line 2 has more than 65,536 bytes, as have 1 more: nothing is learned from them"));
  options.inputs = {folder.make("only", std::string(65'537, 'b') + "\n")};
  EXPECT_EQ(error_of(options).what(),
            "all lines to learn a vocabulary from have more than 65,536 bytes, the first of "
            "them " +
                options.inputs[0] + ": line 1");
}

TEST_P(Training, LowerCasesWhereTheNormalizationSaysSo) {
  auto folded = training();
  folded.normalization = "nmt_nfkc_cf";
  train_vocabulary(folded);
  const Vocabulary vocabulary = Vocabulary::load(folded.model);
  EXPECT_EQ(vocabulary.encode("WO IST DIE BRÜCKE?"), vocabulary.encode("wo ist die brücke?"));
}

class TokenList : public testing::Test {
 protected:
  std::string read(const char* name, int size, const std::vector<int>& columns = {}) const {
    LineWriter writer(folder / "text");
    for (const char* line : {"b  a@@ b", "</s> c a@@\tb", "b"}) writer.write(line);
    writer.close();
    train_vocabulary({.inputs = {folder / "text"}, .columns = columns, .model = folder / name, .size = size});
    return read_file(folder / name);
  }

  const TemporaryFolder folder;
};

TEST_F(TokenList, HasTheMostFrequentTokensFirst) {
  EXPECT_EQ(read("v.txt", 100, {0, 1}), "</s>\n<unk>\nb\na@@\nc\n");
  EXPECT_EQ(read("v.txt", 100, {1}), "</s>\n<unk>\nb\na@@\n");
  EXPECT_EQ(read("v.yml", 3, {0, 1}), "\"</s>\": 0\n\"<unk>\": 1\n\"b\": 2\n");
  EXPECT_EQ(Vocabulary::load(folder / "v.yml").size(), 3);
}

// A carriage return at the end of a line belongs to the end of the line.
TEST_F(TokenList, HasNoTokenThatEndsLikeALine) {
  const std::string text = folder.make("crlf", "foo\r bar\r foo\nb\rar\r\n");
  for (const char* name : {"v.txt", "v.yml", "v.json"}) {
    train_vocabulary({.inputs = {text}, .model = folder / name});
    const Vocabulary vocabulary = Vocabulary::load(folder / name);
    ASSERT_EQ(vocabulary.size(), 4) << name;
    EXPECT_EQ(vocabulary.piece(2), "b\rar") << name;
    EXPECT_EQ(vocabulary.piece(3), "foo") << name;
    EXPECT_EQ(vocabulary.encode("foo\r"), (std::vector<int32_t>{vocabulary.unk()})) << name;
  }
}

TEST_F(TokenList, WarnsOfOptionsThatHaveNoEffect) {
  std::string warnings;
  const LogSink sink = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) warnings += std::string(message) + '\n';
  };
  const LogScope scope(&sink);
  const std::string model = folder / "v.txt", effect = " has no effect: " + model + " is a list of tokens\n";
  const VocabularyTraining usual{.inputs = {folder.make("some", "a b\n")}, .model = model};
  train_vocabulary(usual);
  EXPECT_EQ(warnings, "");
  VocabularyTraining changed = usual;
  changed.type = VocabularyType::unigram;
  changed.normalization = "nfkc";
  changed.character_coverage = 0.99;
  changed.byte_fallback = false;
  changed.sample_lines = 200;
  changed.trainer_options = {{"split_digits", "true"}};
  changed.type_option = "--vocab-type";
  train_vocabulary(changed);
  EXPECT_EQ(warnings, "--vocab-type" + effect + "--normalization" + effect + "--character-coverage" + effect +
                          "--no-byte-fallback" + effect + "--sentencepiece-max-lines" + effect +
                          "--sentencepiece-options" + effect);
  changed.normalization = "foo";
  EXPECT_THROW(train_vocabulary(changed), Error);
}

TEST_F(TokenList, HasNoProtectedSymbols) {
  EXPECT_THROW(train_vocabulary({.inputs = {"t"}, .model = folder / "v.yml", .protected_symbols = {"<a>"}}), Error);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, Training, testing::Values(VocabularyType::bpe, VocabularyType::unigram),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace dragoman
