#include "base/machine.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

constexpr int64_t none = std::numeric_limits<int64_t>::max();

class Container : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  int64_t memory() const { return container_memory(root / "groups", root); }

  TemporaryFolder folder;
  const std::filesystem::path root = folder / "";
};

TEST_F(Container, HasNoMoreAvailableThanItMayUse) {
  const std::string report = root / "meminfo";
  write("meminfo", "MemTotal:       16 kB\nMemFree:         1 kB\nMemAvailable:    8 kB");
  EXPECT_EQ(available_memory(none, report), 8 << 10);
  EXPECT_EQ(available_memory(5 << 10, report), 5 << 10);
  write("meminfo", "MemTotal:       16 kB");
  EXPECT_EQ(available_memory(none, report), 0);
  EXPECT_EQ(available_memory(none, root / "missing"), 0);
}

TEST_F(Container, HasNoLimitWithoutAFileThatSaysSo) {
  EXPECT_EQ(memory(), none);
  write("groups", "0::/");
  EXPECT_EQ(memory(), none);
  write("memory.max", "max");
  EXPECT_EQ(memory(), none);
}

TEST_F(Container, HasTheLowestLimitOfItsGroupAndThoseAbove) {
  write("groups", "0::/system.slice/serve.service");
  write("system.slice/serve.service/memory.max", "max");
  write("system.slice/memory.max", "3000000");
  EXPECT_EQ(memory(), 3000000);
  write("memory.max", "2000000");
  EXPECT_EQ(memory(), 2000000);
  write("system.slice/serve.service/memory.max", "1000000");
  EXPECT_EQ(memory(), 1000000);
  write("groups", "0::/of/another/mount");
  EXPECT_EQ(memory(), 2000000) << "inside a container, the path may be the host's";
}

TEST_F(Container, IsLimitedByVersion1Too) {
  write("groups", "5:devices:/\n4:memory:/docker/1a\n0::/");
  write("memory/docker/1a/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(memory(), 9223372036854771712) << "a number above any machine's memory";
  write("memory/memory.limit_in_bytes", "4000000");
  EXPECT_EQ(memory(), 4000000);
}

TEST(Machine, HasMemory) {
  EXPECT_GT(machine_memory(), resident_memory());
  EXPECT_GT(resident_memory(), 0);
}

TEST(Machine, CountsAddressesOnlyUnderALimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "a limit is set";
  EXPECT_EQ(addresses_left(), none);
  rlimit now = before;
  now.rlim_cur = rlim_t{1} << 46;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &now), 0);
  const int64_t left = addresses_left();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LT(left, int64_t{1} << 46);
  EXPECT_GT(left, 0);
}

}  // namespace
}  // namespace dragoman
