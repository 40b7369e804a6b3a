#include "interop/ctranslate2_variables.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

std::vector<ForeignTensor> split(CTranslate2Bin& bin) {
  std::vector<ForeignTensor> tensors;
  for (ForeignTensor& t : bin.tensors) {
    const bool self = t.name.find("/self_attention/linear_0/") != t.name.npos,
               memory = t.name.find("/attention/linear_1/") != t.name.npos;
    if (!self && !memory) {
      tensors.push_back(std::move(t));
      continue;
    }
    const int64_t parts = self ? 3 : 2, rows = t.shape[0] / parts;
    require(t.shape[0] == rows * parts, "{}: {} has {} rows, expected a multiple of {}", bin.path, t.name, t.shape[0],
            parts);
    const size_t slash = t.name.rfind('/');
    for (int64_t i = 0; i < parts; ++i) {
      tensors.push_back(rows_of(t, i * rows, rows));
      tensors.back().name = fmt::format("{}.{}{}", t.name.substr(0, slash), i, t.name.substr(slash));
    }
  }
  return tensors;
}

}  // namespace

CTranslate2Variables::CTranslate2Variables(CTranslate2Bin bin)
    : bin_(std::move(bin)), weights_(bin_.path, split(bin_)) {}

std::string CTranslate2Variables::resolved(const std::string& name) const {
  const auto alias = bin_.aliases.find(name);
  return alias == bin_.aliases.end() ? name : alias->second;
}

double CTranslate2Variables::number(const std::string& scope, const char* name, double otherwise) const {
  for (const std::string& key : {scope + "/" + name, std::string(name)})
    if (const auto found = bin_.numbers.find(key); found != bin_.numbers.end()) return found->second;
  return otherwise;
}

// Sizes and indices are small numbers.
int CTranslate2Variables::whole_number(const std::string& scope, const char* name, int otherwise) const {
  constexpr int most = std::numeric_limits<int16_t>::max();
  const double found = number(scope, name, otherwise);
  require(found >= 0 && found <= most && found == std::floor(found),
          "{}: {}/{} is {}, expected a whole number of at most {}", bin_.path, scope, name, found, most);
  return int(found);
}

}  // namespace dragoman
