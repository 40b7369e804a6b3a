#include "options/table_files.h"

#include <fmt/format.h>

#include "interop/model_parts.h"

namespace dragoman {

CommandFiles files_of(const std::vector<Option>& options) {
  CommandFiles files;
  for (const Option& option : options) {
    if (!option.takes_files() || option.use == FileUse::temporary) continue;
    NamedFiles named = {fmt::format("--{}", option.name), option.show()};
    if (option.files == FileWords::first && !named.files.empty()) named.files.resize(1);
    if (option.use == FileUse::written) {
      files.written.push_back(std::move(named));
      continue;
    }
    files.read.push_back(named);
    if (option.use == FileUse::read_model)
      files.read.push_back({fmt::format("a file of {}", named.what), parts_of_models(named.files)});
  }
  return files;
}

}  // namespace dragoman
