#include "align/align_text.h"

#include "cli/align_options.h"
#include "cli/commands.h"

namespace dragoman {

int align_command(Engine&, const AlignCommandOptions& options) {
  align_text(options);
  return 0;
}

}  // namespace dragoman
