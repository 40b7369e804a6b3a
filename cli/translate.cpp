#include <chrono>
#include <filesystem>

#include "backend/registry.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/log.h"
#include "cli/options.h"
#include "decode/translator.h"
#include "io/model_file.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

void check_files(const TranslateCommandOptions& options) {
  require(options.models.size() == 1, "--model: {} files, expected one: several models cannot translate together",
          options.models.size());
  std::error_code ignored;  // files that are not there are the same as no other
  require(!std::filesystem::equivalent(options.input, options.output, ignored),
          "--input and --output are both {}: it would be emptied before it is read", options.input);
}

LoadedModel load(const TranslateCommandOptions& options, const Backend& cpu, Arena& arena) {
  const ModelFile file(options.models[0]);
  if (options.precision == Precision::automatic) return load_model(file, cpu, arena, file.stored_type());
  return load_model(file, cpu, arena, options.precision == Precision::int8 ? DType::i8 : DType::f32);
}

void report(int64_t lines, Clock::time_point begin) {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  spdlog::info("Translated {} {} in {:.1f} s: {:.1f} lines/s", grouped(lines), lines == 1 ? "line" : "lines", seconds,
               double(lines) / seconds);
}

}  // namespace

int translate_command(const TranslateCommandOptions& options) {
  check_files(options);
  LineReader in(options.input);
  const Backend& cpu = backend("cpu");
  Arena arena;
  const LoadedModel loaded = load(options, cpu, arena);
  Context cx{.backend = cpu, .arena = arena, .packed = &loaded.packed};
  Translator translator(cx, *loaded.model, loaded.vocabularies, options, options);

  LineWriter out(options.output);  // emptied last, when nothing that was asked for can be wrong any more
  const auto begin = Clock::now();
  const int64_t lines = translator.translate(in, out);
  out.close();
  report(lines, begin);
  return 0;
}

}  // namespace dragoman
