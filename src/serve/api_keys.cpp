#include "serve/api_keys.h"

#include "base/error.h"
#include "base/file.h"

namespace dragoman {
namespace {

// Compares all of `given`, wherever it differs.
bool equal(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= unsigned(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(key[i % key.size()]));
  return difference == 0;
}

}  // namespace

ApiKeys::ApiKeys(const std::string& path) : needed_(!path.empty()) {
  if (!needed_) return;
  const std::string text = read_file(path);
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty() && line[0] != '#') keys_.push_back(std::move(line));
    from = end + 1;
  }
  require(!keys_.empty(), "{} has no keys, expected one per line", path);
}

bool ApiKeys::contain(std::string_view key) const {
  bool found = false;
  for (const std::string& k : keys_) found |= equal(key, k);
  return found;
}

}  // namespace dragoman
