#include <optional>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/grouped.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/line_progress.h"
#include "cli/profiled.h"
#include "cli/ranks.h"
#include "cli/translate_options.h"
#include "decode/loaded_ensemble.h"
#include "decode/shared_translation.h"

namespace dragoman {
namespace {

void report(const TranslatedLines& lines, double seconds) {
  log_info("Translated {} in {:.1f} s: {:.1f} lines/s", counted(lines.all, "line"), seconds,
           double(lines.all) / seconds);
  if (lines.beyond_training > 1)
    log_warning("{} lines are longer, in pieces, than any sentence that the model was trained on",
                grouped(lines.beyond_training));
  if (lines.lacking > 1)
    log_warning("The translations of {} lines do not contain all their required phrases", grouped(lines.lacking));
}

// Rank 0 reads and writes; the others have no `in`.
void translate(const TranslateCommandOptions& options, LineReader* in, const Backend& device, Communicator& ranks) {
  const LoadedEnsemble ensemble(options, device);
  Translator translator(ensemble.models(), ensemble.vocabularies(), options, options, ensemble.word_constraints(),
                        searches_on(device));
  require_same(ranks, ensemble.facts());
  warn_of_other_arithmetic(ranks, device.arithmetic);
  if (!in) return void(translate_on_ranks(ranks, translator, options, options, nullptr));
  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  LineProgress progress(options.quiet);
  const auto& [source, target] = ensemble.vocabularies();
  UnknownPiecesWarning unknown(
      encoded_sides({in->name(), ""}, {source, target}, options.vocabs, options.models[0], options.no_spm_encode)[0]);
  const SharedFiles files{*in, out, [&](int64_t done) {
                            unknown.during(translator.unknown());
                            progress.draw(done, *in);
                          }};
  const TranslatedLines lines = translate_on_ranks(ranks, translator, options, options, &files);
  progress.clear();
  out.close();
  unknown.at_end(translator.unknown());
  report(lines, clock.seconds());
}

}  // namespace

int translate_command(Engine& engine, const TranslateCommandOptions& options) {
  std::optional<LineReader> in;
  if (engine.ranks().rank() == 0) in.emplace(options.input);
  return profiled(options.profile, engine,
                  [&](const Backend& device) { translate(options, in ? &*in : nullptr, device, engine.ranks()); });
}

}  // namespace dragoman
