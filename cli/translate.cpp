#include <algorithm>
#include <deque>
#include <optional>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/line_progress.h"
#include "cli/profiled.h"
#include "cli/translate_options.h"
#include "decode/translator.h"
#include "io/model_file.h"

namespace dragoman {
namespace {

LoadedModel load_one(const std::string& path, const TranslateCommandOptions& options, const Backend& backend,
                     Arena& arena) {
  const ModelFile file(path);
  switch (options.precision) {
    case Precision::automatic:
      return load_model(file, backend, arena, file.stored_type());
    case Precision::float32:
      return load_model(file, backend, arena, DType::f32);
    case Precision::bfloat16:
      return load_model(file, backend, arena, DType::bf16);
    case Precision::float16:
      if (!backend.supports(DType::f16))
        throw Error("--precision float16 is for GPUs, and --devices is cpu", "use bfloat16 or int8");
      return load_model(file, backend, arena, DType::f16);
    case Precision::int8:
      return load_model(file, backend, arena, DType::i8);
  }
  fail("there is no precision {}", name_of(options.precision));
}

void report(int64_t lines, double seconds) {
  log_info("Translated {} in {:.1f} s: {:.1f} lines/s", counted(lines, "line"), seconds, double(lines) / seconds);
}

void require_same(const char* side, const Vocabulary& a, const std::string& a_model, const Vocabulary& b,
                  const std::string& b_model) {
  if (a.bytes() == b.bytes()) return;
  throw Error(fmt::format("{} and {} cannot translate together: their {} vocabularies differ ({} and {} pieces)",
                          a_model, b_model, side, a.size(), b.size()),
              "train models of an ensemble with the same --vocabs");
}

/// The models of an ensemble, each with its context. Their addresses are stable.
struct Models {
  std::deque<LoadedModel> loaded;
  std::deque<Context> contexts;
  std::vector<TranslatingModel> all;
};

// A copying model may generate any piece of the source, which the shortlist may lack.
void require_all_pieces(const LoadedModel& model, const std::string& path, const TranslateCommandOptions& options) {
  if (options.shortlist.empty() || !model.model->config().copies) return;
  throw Error(fmt::format("--shortlist {} leaves out pieces that {} would copy: it was trained with --copy",
                          options.shortlist, path),
              "leave --shortlist out");
}

void load(Models& models, const TranslateCommandOptions& options, const Backend& cpu, Arena& arena) {
  for (const std::string& path : options.models) {
    LoadedModel& m = models.loaded.emplace_back(load_one(path, options, cpu, arena));
    const Vocabularies &mine = m.vocabularies, &first = models.loaded[0].vocabularies;
    require_same("source", first.source, options.models[0], mine.source, path);
    require_same("target", first.target, options.models[0], mine.target, path);
    require_all_pieces(m, path, options);
    Context& cx = models.contexts.emplace_back(Context{.backend = cpu, .arena = arena, .packed = &m.packed});
    const double weight =
        options.weights.empty() ? 1.0 / double(options.models.size()) : options.weights[models.all.size()];
    models.all.push_back({&cx, m.model.get(), weight, m.trained.source});
  }
}

// Logged once, to explain the speed.
void note_slow_int8(const Models& models, const Backend& backend) {
  const auto in_int8 = [](const LoadedModel& m) {
    return std::ranges::any_of(m.packed, [](const auto& w) { return w.second.dtype() == DType::i8; });
  };
  if (backend.multiplies_int8 || std::ranges::none_of(models.loaded, in_int8)) return;
  log_info("This CPU ({}) has no VNNI instructions: int8 gives the same translations, but more slowly",
           backend.instructions);
}

void translate(const TranslateCommandOptions& options, LineReader& in, const Backend& device) {
  Arena arena = arena_of(device);
  Models models;
  load(models, options, device, arena);
  note_slow_int8(models, device);
  const Vocabularies& vocabularies = models.loaded[0].vocabularies;
  std::optional<Shortlist> shortlist;
  if (!options.shortlist.empty())
    shortlist = load_shortlist(options.shortlist, vocabularies.source, vocabularies.target);
  Translator translator(models.all, vocabularies, options, options, shortlist ? &*shortlist : nullptr,
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
