#include <optional>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/grouped.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/line_progress.h"
#include "cli/profiled.h"
#include "cli/translate_options.h"
#include "decode/loaded_ensemble.h"
#include "decode/shared_translation.h"

namespace dragoman {
namespace {

void report(int64_t lines, double seconds) {
  log_info("Translated {} in {:.1f} s: {:.1f} lines/s", counted(lines, "line"), seconds, double(lines) / seconds);
}

// Rank 0 of several reads and writes; the others have no `in`.
void share(const TranslateCommandOptions& options, LineReader* in, Translator& translator, Communicator& ranks) {
  if (!in) return void(translate_on_ranks(ranks, translator, options, options, nullptr));
  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  LineProgress progress(options.quiet);
  const SharedFiles files{*in, out, [&](int64_t done) { progress.draw(done, *in); }};
  const int64_t lines = translate_on_ranks(ranks, translator, options, options, &files);
  progress.clear();
  out.close();
  report(lines, clock.seconds());
}

void translate(const TranslateCommandOptions& options, LineReader* in, const Backend& device, Communicator& ranks) {
  const LoadedEnsemble ensemble(options, device);
  Translator translator(ensemble.models(), ensemble.vocabularies(), options, options, ensemble.shortlist(),
                        searches_on(device));
  if (ranks.size() > 1) return share(options, in, translator, ranks);
  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  LineProgress progress(options.quiet);
  const int64_t lines = translator.translate(*in, out, [&](int64_t done) { progress.draw(done, *in); });
  progress.clear();
  out.close();
  report(lines, clock.seconds());
  if (translator.beyond_training() > 1)
    log_warning("{} lines are longer, in pieces, than any sentence that the model was trained on",
                grouped(translator.beyond_training()));
}

}  // namespace

int translate_command(Engine& engine, const TranslateCommandOptions& options) {
  std::optional<LineReader> in;
  if (engine.ranks().rank() == 0) in.emplace(options.input);
  return profiled(options.profile, engine,
                  [&](const Backend& device) { translate(options, in ? &*in : nullptr, device, engine.ranks()); });
}

}  // namespace dragoman
