#include <gmock/gmock.h>

#include "base/error.h"
#include "score/n_best_reader.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NBestLists : public testing::Test {
 protected:
  NBestReader reader(const std::string& list) {
    return NBestReader({folder.make("s", "zero\none\ntwo\n"), folder.make("list", list)});
  }
  std::string error_for(const std::string& list) {
    NBestReader entries = reader(list);
    try {
      while (!entries.next(10).source.empty()) {}
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  TemporaryFolder folder;
};

TEST_F(NBestLists, PairEachEntryWithItsLine) {
  NBestReader entries = reader("0 ||| a ||| F= 1\n0 ||| b ||| F= 1\n2 ||| c ||| F= 1\n");
  const auto first = entries.next(2), second = entries.next(2);
  EXPECT_THAT(first.source, ElementsAre("zero", "zero"));
  EXPECT_THAT(first.target, ElementsAre("a", "b"));
  EXPECT_THAT(second.source, ElementsAre("two"));
  EXPECT_EQ(second.entries[0].line, 2);
  EXPECT_TRUE(entries.next(2).source.empty());
}

TEST_F(NBestLists, MustNameLinesThatAreThereInOrder) {
  EXPECT_THAT(error_for("0 ||| a ||| F= 1\n3 ||| b ||| F= 1\n"),
              testing::AllOf(HasSubstr("list, line 2"), HasSubstr("source line 3"), HasSubstr("/s has 3 lines")));
  EXPECT_THAT(error_for("1 ||| a ||| F= 1\n0 ||| b ||| F= 1\n"),
              testing::AllOf(HasSubstr("list, line 2"), HasSubstr("expected increasing numbers")));
  EXPECT_THAT(error_for("0 ||| a ||| F= 1\ntext\n"), HasSubstr("list, line 2"));
}

}  // namespace
}  // namespace dragoman
