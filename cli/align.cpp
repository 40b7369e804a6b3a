#include "align/align_text.h"
#include "base/error.h"
#include "base/line_writer.h"
#include "base/writable.h"
#include "cli/align_options.h"
#include "cli/commands.h"
#include "engine/output_file.h"
#include "io/shortlist.h"

namespace dragoman {
namespace {

bool is_whole_shortlist(const std::string& file) {
  try {
    return is_shortlist(file);
  } catch (const Error& damage) {
    throw Error(damage.what(), "remove it, or give --shortlist another name");
  }
}

void require_shortlist_name(const std::string& file) {
  require(file != "-", "--shortlist is a binary file, so it cannot be '-'");
  require_replaceable("shortlist", file);
  const std::string kind = kind_of_existing(file);
  if (!kind.empty() && kind != "a Marian shortlist (.bin)" && !is_whole_shortlist(file))
    refuse_to_replace("shortlist", file, kind, "a shortlist");
}

// Before anything is learned.
void check_outputs(const AlignCommandOptions& o) {
  if (!o.output.empty() && !is_written_in_place(o.output)) require_writable("output", o.output);
  if (!o.shortlist.empty()) require_shortlist_name(o.shortlist);
}

}  // namespace

int align_command(Engine&, const AlignCommandOptions& options) {
  check_outputs(options);
  align_text(options);
  return 0;
}

}  // namespace dragoman
