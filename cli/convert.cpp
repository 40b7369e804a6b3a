#include "cli/commands.h"
#include "cli/convert_options.h"
#include "cli/verify.h"

namespace dragoman {

int convert_command(Engine& engine, const ConvertCommandOptions& options) {
  convert_model(engine, options);
  if (!options.verify.empty()) verify_conversion(engine, options);
  return 0;
}

}  // namespace dragoman
