#pragma once
#include <cstdio>

#include "backend/profile.h"
#include "cli/ranks.h"
#include "dragoman/engine.h"

namespace dragoman {

/// Runs f on the engine's backend; with --profile, rank 0 then prints the time of each kernel, and what it has sent to
/// other ranks, to stderr. Returns exit code 0.
template <class F>
int profiled(bool wanted, const Engine& engine, const F& f) {
  if (!wanted) {
    f(engine.backend());
    return 0;
  }
  const Profile profile(engine.backend());
  f(profile.backend());
  if (engine.ranks().rank() == 0) std::fputs((profile.table() + traffic_rows(engine.ranks())).c_str(), stderr);
  return 0;
}

}  // namespace dragoman
