#pragma once
#include <cstdio>

#include "backend/profile.h"
#include "backend/registry.h"

namespace dragoman {

/// Runs f on the backend of that name; with --profile, writes to stderr afterwards where the time went. Returns exit
/// code 0.
template <class F>
int profiled(bool wanted, const std::string& device, const F& f) {
  if (!wanted) {
    f(backend(device));
    return 0;
  }
  const Profile profile(backend(device));
  f(profile.backend());
  std::fputs(profile.table().c_str(), stderr);
  return 0;
}

}  // namespace dragoman
