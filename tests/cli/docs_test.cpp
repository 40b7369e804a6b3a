#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/command.h"

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

}  // namespace
}  // namespace dragoman
