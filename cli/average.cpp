#include "dragoman/average.h"
#include "cli/commands.h"

namespace dragoman {

int average_command(Engine& engine, const AverageOptions& options) {
  average_models(engine, options);
  return 0;
}

}  // namespace dragoman
