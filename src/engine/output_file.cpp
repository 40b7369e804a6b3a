#include "engine/output_file.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/writable.h"
#include "io/model_file.h"

namespace dragoman {

namespace fs = std::filesystem;

namespace {

bool is_whole_model(const std::string& file) {
  try {
    return is_model_file(file);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void require_model_output(const std::string& file) {
  require(file != "-", "--output is a model file, so it cannot be '-'");
  require_replaceable("output", file);
  const std::string kind = kind_of_existing(file);
  if (!kind.empty() && !is_whole_model(file)) refuse_to_replace("output", file, kind, "a whole dragoman model");
}

std::string kind_of_existing(const std::string& file) {
  constexpr size_t enough = 512;
  if (!fs::is_regular_file(file)) return "";
  std::string begin(enough, '\0');
  begin.resize(FileDescriptor::to_read(file).read(begin.data(), enough));
  const std::string_view kind = kind_of_file(begin);
  return std::string(kind.empty() && !begin.empty() ? "of an unknown kind" : kind);
}

void refuse_to_replace(std::string_view option, const std::string& file, std::string_view kind,
                       std::string_view expected) {
  throw Error(fmt::format("--{} {} is {}, expected a new file or {} to replace", option, file, kind, expected),
              "give another name, or remove the file first");
}

}  // namespace dragoman
