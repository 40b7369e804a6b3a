#include "dragoman/average.h"
#include "base/error.h"
#include "cli/commands.h"

namespace dragoman {

int average_command(Engine& engine, const AverageOptions& options) {
  require(options.output != "-", "--output is a model file, so it cannot be '-'");
  average_models(engine, options);
  return 0;
}

}  // namespace dragoman
