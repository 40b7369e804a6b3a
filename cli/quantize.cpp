#include <fmt/format.h>

#include "base/grouped.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/quantize_options.h"

namespace dragoman {
namespace {

std::string table(const QuantizeResult& r) {
  std::string page = fmt::format("{:<5}  {:>13}  {:>13}  {:>8}\n", "", "float32", "int8", "change");
  page += fmt::format("{:<5}  {:>13}  {:>13}  {:>+6.1f} %\n", "bytes", grouped(r.bytes_before), grouped(r.bytes_after),
                      100 * (double(r.bytes_after) / double(r.bytes_before) - 1));
  const auto row = [&](const char* name, double TranslationQuality::*figure) {
    const double a = (*r.float32).*figure, b = (*r.int8).*figure;
    page += fmt::format("{:<5}  {:>13.2f}  {:>13.2f}  {:>+8.2f}\n", name, a, b, b - a);
  };
  if (r.float32) row("BLEU", &TranslationQuality::bleu), row("chrF2", &TranslationQuality::chrf);
  return page;
}

}  // namespace

int quantize_command(Engine& engine, const QuantizeCommandOptions& options) {
  print_page(table(quantize(engine, options)));
  return 0;
}

}  // namespace dragoman
