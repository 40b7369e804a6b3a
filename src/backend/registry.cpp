#include "backend/registry.h"

#include "backend/cpu/install.h"
#include "backend/dry/install.h"
#include "backend/reference/install.h"

namespace dragoman {

void throw_missing_kernel(const char* name) { fail("this backend has no kernel '{}'", name); }

const Backend& backend(std::string_view name) {
  static const Backend reference = [] {
    Backend b{.name = "reference"};
    reference::install(b);
    return b;
  }();
  static const Backend cpu = [] {
    Backend b = reference;  // what cpu does not bring itself, reference computes
    b.name = "cpu";
    cpu::install(b);
    return b;
  }();
  static const Backend dry = [] {
    Backend b{.name = "dry"};
    dry::install(b);
    return b;
  }();
  for (const Backend* known : {&reference, &cpu, &dry})
    if (known->name == name) return *known;
  fail("unknown backend '{}'; there are: cpu, reference, dry", name);
}

}  // namespace dragoman
