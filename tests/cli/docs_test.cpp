#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "cli/marian.h"

namespace dragoman {
namespace {

TEST(OptionsPage, IsUpToDate) {
  std::ifstream file(DRAGOMAN_SOURCE_DIR "/docs/options.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == options_page(all_commands()))
      << "docs/options.md is stale: build/release/dragoman help --markdown > docs/options.md";
}

TEST(ComingFromMarian, HasEachOptionThatIsLeftOutWithItsAdvice) {
  std::ifstream file(DRAGOMAN_SOURCE_DIR "/docs/coming_from_marian.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(line);
  for (const LeftOut& o : left_out_of_marian()) {
    const std::string name = fmt::format("`{}{}`", o.option.size() == 1 ? "-" : "--", o.option);
    const std::string advice = fmt::format(" | {} |", o.instead);
    EXPECT_TRUE(std::ranges::any_of(
        rows, [&](const std::string& row) { return row.find(name) < row.find(advice) && row.ends_with(advice); }))
        << "docs/coming_from_marian.md has no row of " << name << advice;
  }
}

TEST(Overview, HasALineForEveryCommand) {
  const std::string page = overview(all_commands());
  for (const Command& command : all_commands())
    EXPECT_THAT(page, testing::HasSubstr(fmt::format("  {:<10} {}\n", command.about.name, command.about.summary)));
}

}  // namespace
}  // namespace dragoman
