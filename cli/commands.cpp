#include <fmt/format.h>

#include <algorithm>

#include "cli/align_options.h"
#include "cli/average_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/completion_options.h"
#include "cli/convert_options.h"
#include "cli/data_options.h"
#include "cli/detect_options.h"
#include "cli/evaluate_options.h"
#include "cli/explain_options.h"
#include "cli/inspect_options.h"
#include "cli/plot_options.h"
#include "cli/quantize_options.h"
#include "cli/ranks.h"
#include "cli/score_options.h"
#include "cli/serve_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "options/train_table.h"
#include "tensor/arena.h"

namespace dragoman {

namespace {

// Where memory runs out, nobody knows which options the user has.
int with_hint(const std::vector<Option>& options, const std::function<int()>& command) {
  try {
    return command();
  } catch (const OutOfMemory& error) {
    if (!error.hint().empty() || !find(options, "mini-batch-words")) throw;
    throw OutOfMemory(error.what(), "use smaller batches: --mini-batch-words");
  }
}

}  // namespace

int run_on(EngineOptions machine, const ProcessOptions& processes, const std::vector<Option>& options,
           const std::function<int(Engine&)>& f) {
  if (is_superfluous(processes)) return 0;
  const auto ranks = processes.shared ? start_ranks(processes, machine) : single_process();
  machine.ranks = ranks.get();
  return run_as_rank(*ranks, processes, options, [&] {
    Engine engine(std::move(machine));
    const Engine::Scope scope(engine);
    return with_hint(options, [&] { return f(engine); });
  });
}

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      make_command(translate_table(), translate_command), make_command(serve_table(), serve_command),
      make_command(train_table(), train_command),         make_command(data_table(), data_command),
      make_command(plot_table(), plot_command),           make_command(score_table(), score_command),
      make_command(explain_table(), explain_command),     make_command(align_table(), align_command),
      make_command(average_table(), average_command),     make_command(convert_table(), convert_command),
      make_command(quantize_table(), quantize_command),   make_command(vocab_table(), vocab_command),
      make_command(evaluate_table(), evaluate_command),   make_command(detect_table(), detect_command),
      make_command(inspect_table(), inspect_command),     make_command(completion_table(), completion_command),
  };
  return commands;
}

std::string commands_with(std::string_view option) {
  constexpr size_t most = 3;
  CommonOptions common;
  if (find(bind_flags(common_flags(), common), option)) return "";
  Strings names;
  for (const Command& command : all_commands())
    if (find(command.options(), option)) names.emplace_back(command.about.name);
  if (names.empty()) return "";
  const std::string_view others = names.size() > most ? " and others" : "";
  names.resize(std::min(most, names.size()));
  return fmt::format("an option of dragoman {}{}", fmt::join(names, ", "), others);
}

}  // namespace dragoman
