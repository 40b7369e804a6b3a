#include "interop/open_shortlist.h"

#include "base/file.h"
#include "base/file_kind.h"

namespace dragoman {
namespace {

std::string begin_of(const std::string& path) {
  FileDescriptor file = FileDescriptor::to_read(path);
  if (!file.is_regular()) return "";  // a pipe can be read only once
  std::string begin(16, '\0');
  begin.resize(file.read(begin.data(), begin.size()));
  return begin;
}

}  // namespace

Shortlist open_shortlist(const std::string& path, const ShortlistLimits& limits, const Vocabulary& source,
                         const Vocabulary& target) {
  const std::string begin = begin_of(path);
  if (is_marian_shortlist(begin)) return read_marian_shortlist(path, source, target);
  if (kind_of_binary(begin) == "a safetensors file") return load_shortlist(path, source, target);
  return read_lexical_table(path, limits, source, target);
}

}  // namespace dragoman
