#pragma once
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "comm/processes.h"

namespace dragoman {

/// Runs a test on every rank of forked processes; it fails if it fails on any of them.
inline void on_ranks(int count, const std::function<void(Communicator&)>& test) {
  auto ranks = fork_ranks(count);
  if (ranks->rank() == 0) {
    test(*ranks);
    EXPECT_FALSE(ranks->any(testing::Test::HasFailure())) << "on another of " << count << " ranks";
    return;
  }
  try {
    test(*ranks);
    ranks->any(testing::Test::HasFailure());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", ranks->name().c_str(), error.what());
    _exit(1);
  }
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace dragoman
