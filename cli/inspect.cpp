#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/json_text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/inspect_file.h"
#include "cli/inspect_options.h"
#include "interop/open_model.h"
#include "options/model_options.h"
#include "vocab/container.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

constexpr auto kinds_hint =
    "inspect reads dragoman's models and training states, other safetensors files, and vocabularies: SentencePiece "
    "models and lists of pieces (.yml, .yaml, .json, .txt)";

// Recognises a file by its first bytes.
Description describe_content(const std::string& path) {
  const MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (bytes.empty()) throw Error(path + " is empty", kinds_hint);
  if (bytes.size() > 8 && bytes[8] == '{') return describe_safetensors(path);  // after the header length
  if (bytes.starts_with('\n')) return describe_vocabulary(path);               // the first field of its messages
  if (is_container(bytes) || is_piece_list(path)) return describe_vocabulary(path);
  if (const std::string_view kind = kind_of_file(bytes.substr(0, 512)); !kind.empty())
    throw Error(fmt::format("{} is {}, which inspect cannot read", path, kind), kinds_hint);
  throw Error(fmt::format("{} is not a file that inspect can read", path), kinds_hint);
}

Description describe_file(const std::string& path, const std::vector<std::string>& vocabs) {
  if (path == "-") throw Error("inspect reads files, not stdin", "give the name of a model file");
  if (auto foreign = read_foreign_model(path, {.vocabs = vocabs})) return describe_converted(path, std::move(*foreign));
  refuse_other_levels(path);
  try {
    return describe_content(path);
  } catch (const Error& error) {
    throw_for_part(error, path);
  }
}

std::string json_page(const Json& json) { return json_text(json, 2) + "\n"; }

}  // namespace

int inspect_command(Engine&, const InspectOptions& options) {
  if (options.devices) {
    const Devices devices = find_devices();
    print_page(options.json ? json_page(to_json(devices)) : devices_page(devices));
    return 0;
  }
  if (options.options) {
    const ModelFile model = open_model(options.model, {.vocabs = options.vocabs});
    print_page(options_of(model.config(), model.vocabularies()));
    return 0;
  }
  const Description description = describe_file(options.model, options.vocabs);
  print_page(options.json ? json_page(description.json) : description.page.text());
  return 0;
}

}  // namespace dragoman
