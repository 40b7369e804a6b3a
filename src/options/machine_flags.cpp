#include "options/machine_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/registry.h"
#include "base/error.h"

namespace dragoman {

std::string backend_name(const std::vector<std::string>& devices, bool fast_math) {
  require(devices.size() == 1,
          "--devices names {} devices ({}), expected one: a process computes on the CPU or on one GPU", devices.size(),
          fmt::join(devices, " "));
  const std::string& device = devices[0];
  if (device == "cpu" && fast_math)
    throw Error("--fast-math is for GPUs, and --devices is cpu", "leave one of them out, or give --devices 0");
  if (device == "cpu") return device;
  const std::string number = device.starts_with("cuda:") ? device.substr(5) : device;
  const bool digits =
      !number.empty() && number.size() < 4 && std::ranges::all_of(number, [](char c) { return '0' <= c && c <= '9'; });
  if (!digits)
    throw Error(fmt::format("--devices is '{}', expected cpu or the number of a GPU, such as 0", device),
                "dragoman inspect --devices lists the devices");
  return fmt::format("cuda:{}{}", std::stoi(number), fast_math ? fast_backend : "");
}

}  // namespace dragoman
