#include "cli/average_options.h"
#include "cli/commands.h"

namespace dragoman {

int average_command(Engine& engine, const AverageCommandOptions& options) {
  average_models(engine, options);
  return 0;
}

}  // namespace dragoman
