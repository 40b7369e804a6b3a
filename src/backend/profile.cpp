#include "backend/profile.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "backend/backend.h"
#include "base/grouped.h"

namespace dragoman {
namespace {

std::string row(const std::string& name, const KernelCost& cost, double whole) {
  const std::string speed = cost.flop > 0 ? fmt::format("{:.1f}", cost.flop / cost.seconds / 1e9) : "";
  return fmt::format("{:<30}{:>12}{:>10.2f}{:>8.1f}%{:>10}\n", name, cost.calls > 0 ? grouped(cost.calls) : "",
                     cost.seconds, 100 * cost.seconds / whole, speed);
}

bool counts(const Backend& backend) { return backend.memory && backend.memory->counts; }

}  // namespace

// Without a recorder: kernels inside a recording could not be timed separately.
Profile::Profile(const Backend& measured) : backend_(measured) {
  backend_.recorder = nullptr;
  backend_.concurrent = false;  // times of overlapping kernels would not add up
  for_each_kernel(backend_, [&](auto& kernel) {
    KernelCost& cost = costs_[kernel.name()];
    if (backend_.memory && backend_.memory->now) cost.device = backend_.memory;
    kernel.measure(&cost);
  });
  if (counts(backend_)) at_begin_ = backend_.memory->counts();
}

std::string Profile::device_rows() const {
  if (!counts(backend_)) return "";
  const DeviceCounts now = backend_.memory->counts();
  const auto row = [](const char* what, int64_t times) { return fmt::format("{:<30}{:>12}\n", what, grouped(times)); };
  return row("allocations on the device", now.allocations - at_begin_.allocations) +
         row("waits for the device", now.waits - at_begin_.waits) +
         row("slow products", now.slow_products - at_begin_.slow_products);
}

std::string Profile::table() const {
  const double whole = begin_.seconds();
  std::vector<std::pair<std::string, KernelCost>> rows(costs_.begin(), costs_.end());
  for (auto& [name, cost] : rows) cost.finish();
  std::erase_if(rows, [](const auto& r) { return r.second.calls == 0; });
  std::ranges::sort(rows, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  std::string text = fmt::format("{:<30}{:>12}{:>10}{:>9}{:>10}\n", "kernel", "calls", "seconds", "share", "GFLOP/s");
  KernelCost outside{.seconds = whole};
  for (const auto& [name, cost] : rows) {
    text += row(name, cost, whole);
    outside.seconds -= cost.seconds;
  }
  return text + row("outside kernels", outside, whole) + row("whole", {.seconds = whole}, whole) + device_rows();
}

}  // namespace dragoman
