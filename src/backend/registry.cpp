#include "backend/registry.h"

#include <optional>

#include "backend/backend.h"
#include "backend/cpu/install.h"
#include "backend/cuda_module.h"
#include "backend/dry/install.h"
#include "backend/peers.h"
#include "backend/reference/install.h"
#include "base/number.h"
#include "base/utf8.h"

namespace dragoman {

void throw_missing_kernel(const char* name) { fail("this backend has no kernel '{}'", name); }

namespace {

constexpr std::string_view gpu_prefix = "cuda:";

[[noreturn]] void fail_unknown(std::string_view name) {
  fail("unknown backend '{}'; there are: cpu, cuda:0, reference", beginning_of(name));
}

/// "cuda:1" or "cuda:1:tf32" -> 1. No number: not the name of a GPU.
std::optional<int> number_of_gpu(std::string_view name) {
  if (!name.starts_with(gpu_prefix)) return std::nullopt;
  std::string_view digits = name.substr(gpu_prefix.size());
  if (digits.ends_with(fast_backend)) digits.remove_suffix(fast_backend.size());
  const auto number = parse_number<int>(digits);
  return number && *number >= 0 ? number : std::nullopt;
}

const Backend& gpu(std::string_view name, int number) {
  static const Backend one = cuda_backend(load_cuda_module(cuda_module_files()), number, name.ends_with(fast_backend));
  require(one.name == name, "{} is in use, but {} was requested: a process can use only one GPU", one.name, name);
  return one;
}

}  // namespace

bool is_gpu(std::string_view name) { return number_of_gpu(name).has_value(); }
bool is_backend(std::string_view name) { return name == "cpu" || name == "reference" || is_gpu(name); }

const Backend& backend(std::string_view name) {
  if (const auto number = number_of_gpu(name)) return gpu(name, *number);
  static const Backend reference = [] {
    Backend b{.name = "reference"};
    reference::install(b);
    return b;
  }();
  static const Backend cpu = [] {
    Backend b = reference;  // slots that cpu does not implement come from reference
    b.name = "cpu";
    cpu::install(b);
    return b;
  }();
  for (const Backend* known : {&reference, &cpu})
    if (known->name == name) return *known;
  fail_unknown(name);
}

const PeerLinks* peer_links(const Backend& backend) {
  return backend.is_device() ? &load_cuda_module(cuda_module_files()).peers() : nullptr;
}

Backend dry_like(const Backend& real) {
  Backend b = real;
  dry::install(b);
  return b;
}

Arena arena_of(const Backend& backend) { return backend.memory ? Arena(*backend.memory) : Arena(); }

}  // namespace dragoman
