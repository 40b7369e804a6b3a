#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/detect_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "tests/error_of.h"

namespace dragoman {
namespace {

template <class Options>
std::string error_of_parsing(const Table<Options>& table, const Strings& arguments) {
  Options options;
  return error_of([&] { parse(table, arguments, options); });
}

TEST(Stdin, IsReadOnce) {
  for (const char* action : {"train", "encode", "decode"})
    EXPECT_EQ(error_of_parsing(vocab_table(), {action, "-m", "m", "-i", "-", "-"}),
              "only one of --input can be '-' (stdin), found 2");
  EXPECT_EQ(error_of_parsing(detect_table(), {"-m", "m", "-i", "-", "a", "-"}),
            "only one of --input can be '-' (stdin), found 2");
  EXPECT_EQ(error_of_parsing(detect_table(), {"--learn", "en=-", "de=-", "-o", "m"}),
            "only one of --learn can be '-' (stdin), found 2");
}

TEST(SeedsOfVocab, AreForSamplingAndTraining) {
  const auto said = [](Strings arguments) {
    arguments.insert(arguments.end(), {"-m", "m", "--seed", "5"});
    return error_of_parsing(vocab_table(), arguments);
  };
  EXPECT_EQ(said({"inspect"}), "--seed is for vocab train, encode, not for vocab inspect");
  EXPECT_EQ(said({"encode"}), "--seed is for --alpha, which is not given");
  EXPECT_EQ(said({"encode", "--alpha", "0.1"}), "");
  EXPECT_EQ(said({"train", "-i", "s"}), "");
}

TEST(OptionsOfSampling, AreForSampling) {
  const auto said = [](Strings arguments) {
    arguments.insert(arguments.end(), {"-m", "m"});
    return error_of_parsing(translate_table(), arguments);
  };
  EXPECT_EQ(said({"--seed", "5"}), "") << "commands of Marian have it";
  EXPECT_EQ(said({"--temperature", "2"}), "--temperature 2 is for --output-sampling, which is not given");
  EXPECT_EQ(said({"--seed", "5", "--temperature", "2", "--output-sampling"}), "");
}

}  // namespace
}  // namespace dragoman
