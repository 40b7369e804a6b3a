#include <optional>

#include "cli/commands.h"
#include "cli/convert_options.h"
#include "cli/verify.h"

namespace dragoman {

int convert_command(Engine& engine, const ConvertCommandOptions& options) {
  std::optional<Verification> verification;
  if (!options.verify.empty()) verification.emplace(options);
  convert_model(engine, options);
  if (verification) verification->compare(engine);
  return 0;
}

}  // namespace dragoman
