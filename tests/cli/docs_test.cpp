#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "cli/suggest.h"

namespace dragoman {
namespace {

TEST(OptionsPage, IsUpToDate) {
  std::ifstream file(DRAGOMAN_SOURCE_DIR "/docs/options.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == options_page(all_commands()))
      << "docs/options.md is stale: build/release/dragoman help --markdown > docs/options.md";
}

TEST(Overview, HasALineForEveryCommand) {
  const std::string page = overview(all_commands());
  for (const Command& command : all_commands())
    EXPECT_THAT(page, testing::HasSubstr(fmt::format("  {:<10} {}\n", command.about.name, command.about.summary)));
}

TEST(Nearest, KnowsSlipsOfTheFingerAndParts) {
  const std::vector<std::string> names = {"beam-size", "transformer-dropout", "quiet", "seed"};
  EXPECT_EQ(nearest("beam-szie", names), "beam-size");  // two letters swapped
  EXPECT_EQ(nearest("beamsize", names), "beam-size");
  EXPECT_EQ(nearest("dropout", names), "transformer-dropout");
  EXPECT_EQ(nearest("quite", names), "quiet");
  EXPECT_EQ(nearest("elephant", names), "");
  EXPECT_EQ(nearest("", names), "");
}

}  // namespace
}  // namespace dragoman
