#pragma once
#include <cstdio>

#include "backend/profile.h"
#include "dragoman/engine.h"

namespace dragoman {

/// Runs f on the engine's backend; with --profile, then prints the time of each kernel to stderr. Returns exit code 0.
template <class F>
int profiled(bool wanted, const Engine& engine, const F& f) {
  if (!wanted) {
    f(engine.backend());
    return 0;
  }
  const Profile profile(engine.backend());
  f(profile.backend());
  std::fputs(profile.table().c_str(), stderr);
  return 0;
}

}  // namespace dragoman
