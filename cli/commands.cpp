#include "base/threads.h"
#include "cli/command.h"
#include "cli/stderr_log.h"
#include "cli/tables.h"

namespace dragoman {

int run_with(bool quiet, int threads, const std::function<int()>& f) {
  const LogSink messages = stderr_log(quiet);
  const LogScope log(&messages);
  ThreadPool pool(threads);
  const PoolScope on_the_pool(&pool);
  return f();
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
