#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

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
#include "interop/languages.h"
#include "model/model.h"

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

// Such a line may be translated into any language.
void warn_of_language(const std::string& file, uint64_t line, const LanguageChoice& known) {
  const std::span some = std::span(known.targets).first(std::min(known.targets.size(), size_t{10}));
  log_warning(
      "{}, line {} does not begin with the language to translate into, nor does --target-lang name it: the model knows "
      "{}{}",
      file, grouped(int64_t(line) + 1), fmt::join(some, ", "), some.size() < known.targets.size() ? ", …" : "");
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
  UnknownTokensWarning unknown(
      encoded_sides({in->name(), ""}, {source, target}, options.vocabs, options.models[0], options.no_spm_encode)[0]);
  const SharedFiles files{*in, out, [&](int64_t done) {
                            unknown.during(translator.unknown());
                            progress.draw(done, *in);
                          }};
  const TranslatedLines lines = translate_on_ranks(ranks, translator, options, options, &files);
  progress.clear();
  out.close();
  unknown.at_end(translator.unknown());
  if (const auto line = translator.without_language())
    warn_of_language(in->name(), *line, language_choice(ensemble.models()[0].model->config(), ensemble.vocabularies()));
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
