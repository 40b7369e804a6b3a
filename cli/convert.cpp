#include "cli/commands.h"
#include "cli/convert_options.h"

namespace dragoman {

int convert_command(Engine& engine, const ConvertCommandOptions& options) {
  convert_model(engine, options);
  return 0;
}

}  // namespace dragoman
