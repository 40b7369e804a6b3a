#include "base/line_writer.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/evaluate_options.h"
#include "cli/evaluate_page.h"
#include "decode/n_best_list.h"
#include "score/minimum_risk.h"
#include "score/oracle.h"

namespace dragoman {
namespace {

void print_oracle(const EvaluateOptions& options) {
  LineReader references(options.references[0]), list(options.hypotheses[0], list_of_entries);
  LineWriter out("-");
  choose_nearest(references, list, options, [&](const std::string& text) { out.write(text); });
  out.close();
}

void print_minimum_risk(const EvaluateCommandOptions& options) {
  LineReader list(options.hypotheses[0], list_of_entries);
  LineWriter out("-");
  choose_by_minimum_risk(list, options, options.metrics[0], [&](const std::string& text) { out.write(text); });
  out.close();
}

}  // namespace

int evaluate_command(Engine& engine, const EvaluateCommandOptions& options) {
  if (options.oracle || options.mbr) {
    const Engine::Scope scope(engine);
    options.oracle ? print_oracle(options) : print_minimum_risk(options);
    return 0;
  }
  const Evaluation evaluation = evaluate(engine, options);
  if (options.sentence_level)
    print_page(sentences_page(evaluation));
  else
    print_page(options.json ? figures_json(evaluation) : figures_page(options, evaluation));
  return 0;
}

}  // namespace dragoman
