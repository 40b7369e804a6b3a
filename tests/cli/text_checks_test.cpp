#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/detect_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"

namespace dragoman {
namespace {

template <class Options>
std::string error_of(const Table<Options>& table, const Strings& arguments) {
  Options options;
  try {
    parse(table, arguments, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Stdin, IsReadOnce) {
  for (const char* action : {"train", "encode", "decode"})
    EXPECT_EQ(error_of(vocab_table(), {action, "-m", "m", "-i", "-", "-"}),
              "only one of --input can be '-' (stdin), found 2");
  EXPECT_EQ(error_of(detect_table(), {"-m", "m", "-i", "-", "a", "-"}),
            "only one of --input can be '-' (stdin), found 2");
  EXPECT_EQ(error_of(detect_table(), {"--learn", "en=-", "de=-", "-o", "m"}),
            "only one of --learn can be '-' (stdin), found 2");
}

TEST(SeedsOfVocab, AreForSamplingAndTraining) {
  const auto said = [](Strings arguments) {
    arguments.insert(arguments.end(), {"-m", "m", "--seed", "5"});
    return error_of(vocab_table(), arguments);
  };
  EXPECT_EQ(said({"inspect"}), "--seed is for vocab train, encode, not for vocab inspect");
  EXPECT_EQ(said({"encode"}), "--seed is for --alpha, which is not given");
  EXPECT_EQ(said({"encode", "--alpha", "0.1"}), "no error");
  EXPECT_EQ(said({"train", "-i", "s"}), "no error");
}

TEST(OptionsOfSampling, AreForSampling) {
  const auto said = [](Strings arguments) {
    arguments.insert(arguments.end(), {"-m", "m"});
    return error_of(translate_table(), arguments);
  };
  EXPECT_EQ(said({"--seed", "5"}), "--seed 5 is for --output-sampling, which is not given");
  EXPECT_EQ(said({"--temperature", "2"}), "--temperature 2 is for --output-sampling, which is not given");
  EXPECT_EQ(said({"--seed", "5", "--temperature", "2", "--output-sampling"}), "no error");
}

}  // namespace
}  // namespace dragoman
