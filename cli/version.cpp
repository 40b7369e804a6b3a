#include "cli/version.h"

#include <fmt/format.h>
#include <spdlog/version.h>
#include <unicode/uvernum.h>
#include <utf8proc.h>
#include <boost/version.hpp>

#include <nlohmann/json.hpp>

#include "cli/devices.h"

namespace dragoman {

std::string version_page() {
  const Devices here = find_devices();
  std::string page = fmt::format("dragoman {}\n", DRAGOMAN_VERSION);
  page += fmt::format("oneDNN {}\nHighway {} on {}\n", here.onednn, DRAGOMAN_HIGHWAY, here.kernels);
  page += fmt::format("SentencePiece {}, Boost {}.{}.{}, fmt {}.{}.{}, spdlog {}.{}.{}\n", DRAGOMAN_SENTENCEPIECE,
                      BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100, FMT_VERSION / 10000,
                      FMT_VERSION / 100 % 100, FMT_VERSION % 100, SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH);
  page += fmt::format("nlohmann-json {}.{}.{}, yaml-cpp {}, utf8proc {}, ICU {}\n", NLOHMANN_JSON_VERSION_MAJOR,
                      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, DRAGOMAN_YAML_CPP, utf8proc_version(),
                      U_ICU_VERSION);
  return page;
}

}  // namespace dragoman
