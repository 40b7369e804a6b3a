#pragma once
#include <cstdio>

#include "backend/profile.h"
#include "backend/registry.h"

namespace dragoman {

/// Runs f on the cpu backend; with --profile, writes to stderr afterwards where the time went. Returns exit code 0.
template <class F>
int profiled(bool wanted, const F& f) {
  if (!wanted) {
    f(backend("cpu"));
    return 0;
  }
  const Profile profile(backend("cpu"));
  f(profile.backend());
  std::fputs(profile.table().c_str(), stderr);
  return 0;
}

}  // namespace dragoman
