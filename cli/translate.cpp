#include "backend/backend.h"
#include "base/clock.h"
#include "base/grouped.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/line_progress.h"
#include "cli/profiled.h"
#include "cli/translate_options.h"
#include "decode/loaded_ensemble.h"
#include "decode/translator.h"

namespace dragoman {
namespace {

void report(int64_t lines, double seconds) {
  log_info("Translated {} in {:.1f} s: {:.1f} lines/s", counted(lines, "line"), seconds, double(lines) / seconds);
}

void translate(const TranslateCommandOptions& options, LineReader& in, const Backend& device) {
  const LoadedEnsemble ensemble(options, device);
  Translator translator(ensemble.models(), ensemble.vocabularies(), options, options, ensemble.shortlist(),
                        searches_on(device));

  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  LineProgress progress(options.quiet);
  const int64_t lines = translator.translate(in, out, [&](int64_t done) { progress.draw(done, in); });
  progress.clear();
  out.close();
  report(lines, clock.seconds());
  if (translator.beyond_training() > 1)
    log_warning("{} lines have more pieces than any sentence that the model was trained on",
                grouped(translator.beyond_training()));
}

}  // namespace

int translate_command(Engine& engine, const TranslateCommandOptions& options) {
  LineReader in(options.input);
  return profiled(options.profile, engine, [&](const Backend& device) { translate(options, in, device); });
}

}  // namespace dragoman
