#include "cli/command.h"
#include "cli/tables.h"

namespace dragoman {

int run_on(EngineOptions options, const std::function<int(Engine&)>& f) {
  Engine engine(std::move(options));
  const Engine::Scope scope(engine);
  return f(engine);
}

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      make_command(translate_table(), translate_command),
      make_command(train_table(), train_command),
      make_command(data_table(), data_command),
      make_command(plot_table(), plot_command),
      make_command(score_table(), score_command),
      make_command(explain_table(), explain_command),
      make_command(align_table(), align_command),
      make_command(average_table(), average_command),
      make_command(quantize_table(), quantize_command),
      make_command(vocab_table(), vocab_command),
      make_command(evaluate_table(), evaluate_command),
      make_command(inspect_table(), inspect_command),
      make_command(completion_table(), completion_command),
  };
  return commands;
}

}  // namespace dragoman
