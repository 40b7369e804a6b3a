#include "options/shared_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/registry.h"
#include "base/error.h"
#include "base/words.h"

namespace dragoman {

namespace {

std::string backend_name(const std::string& device, bool fast_math) {
  if (device == "cpu" && fast_math)
    throw Error("--fast-math is for GPUs, and --devices is cpu", "leave one of them out, or give --devices 0");
  if (device == "cpu") return device;
  const std::string number = device.starts_with("cuda:") ? device.substr(5) : device;
  const bool digits = !number.empty() && number.size() < 4 && std::ranges::all_of(number, is_digit);
  if (!digits)
    throw Error(fmt::format("--devices is '{}', expected cpu or the number of a GPU, such as 0", device),
                "dragoman inspect --devices lists the devices");
  return fmt::format("cuda:{}{}", std::stoi(number), fast_math ? fast_backend : "");
}

}  // namespace

void check_stdin(std::string_view option, const std::vector<std::string>& files, Findings& findings) {
  const auto from_stdin = std::ranges::count(files, "-");
  findings.expect(from_stdin <= 1, "only one of --{} can be '-' (stdin), found {}", option, from_stdin);
}

std::vector<std::string> backend_names(const std::vector<std::string>& devices, bool fast_math) {
  std::vector<std::string> names;
  for (const std::string& device : devices) {
    names.push_back(backend_name(device, fast_math));
    require(devices.size() == 1 || names.back() != "cpu",
            "--devices names the CPU among others ({}), expected cpu alone or the numbers of GPUs",
            fmt::join(devices, " "));
    require(std::ranges::count(names, names.back()) == 1,
            "--devices names {} twice ({}), expected a GPU for each process", device, fmt::join(devices, " "));
  }
  require(!names.empty(), "--devices needs a value: cpu, or the number of a GPU, such as 0");
  return names;
}

std::string backend_name(const std::vector<std::string>& devices, bool fast_math) {
  require(devices.size() == 1, "--devices names {} devices ({}), expected one: this command runs in one process",
          devices.size(), fmt::join(devices, " "));
  return backend_name(devices[0], fast_math);
}

}  // namespace dragoman
