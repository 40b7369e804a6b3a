#include "options/overwriting.h"

#include <algorithm>

#include "cli/align_options.h"
#include "cli/commands.h"
#include "cli/completion_options.h"
#include "cli/convert_options.h"
#include "cli/data_options.h"
#include "cli/detect_options.h"
#include "cli/evaluate_options.h"
#include "cli/explain_options.h"
#include "cli/inspect_options.h"
#include "cli/plot_options.h"
#include "cli/score_options.h"
#include "cli/serve_options.h"
#include "cli/translate_options.h"
#include "cli/vocab_options.h"
#include "engine/model_files.h"
#include "interop/model_parts.h"
#include "serve/served_models.h"

namespace dragoman {
namespace {

using Files = std::vector<std::string>;

const NamedFiles to_stdout = {"stdout", {"-"}};

}  // namespace

CommandFiles files_of(const DataCommandOptions& o) {
  return {.read = {{"--train-sets", o.train_sets}, {"--vocabs", o.vocabs}}, .written = {to_stdout}};
}

CommandFiles files_of(const PlotOptions& o) { return {.read = {{"--logs", o.logs}}, .written = {to_stdout}}; }

CommandFiles files_of(const TranslateCommandOptions& o) {
  const auto& words = o.shortlist_words;  // a file, and numbers
  const Files shortlist(words.begin(), words.begin() + std::min<ptrdiff_t>(1, std::ssize(words)));
  return {.read = {{"--input", {o.input}},
                   {"--model", o.models},
                   {"a file of --model", parts_of_models(o.models)},
                   {"--vocabs", o.vocabs},
                   {"--glossary", {o.glossary}},
                   {"--avoid", {o.avoid}},
                   {"--shortlist", shortlist}},
          .written = {{"--output", {o.output}}}};
}

CommandFiles files_of(const ServeCommandOptions& o) {
  Files models;
  for (const std::string& model : o.models) models.push_back(parse_model_spec(model).file);
  return {.read = {{"--model", models},
                   {"a file of --model", parts_of_models(models)},
                   {"--vocabs", o.vocabs},
                   {"--glossary", {o.glossary}},
                   {"--avoid", {o.avoid}},
                   {"--shortlist", {o.shortlist}},
                   {"--api-keys", {o.api_keys}},
                   {"--detect-model", {o.detect_model}}},
          .written = {{"--access-log", {o.access_log}}}};
}

CommandFiles files_of(const ScoreCommandOptions& o) {
  return {.read = {{"--train-sets", o.train_sets},
                   {"--model", {o.model}},
                   {"a file of --model", parts_of_models({o.model})},
                   {"--vocabs", o.vocabs}},
          .written = {{"--output", {o.output}}}};
}

CommandFiles files_of(const ExplainCommandOptions& o) {
  return {.read = {{"--train-sets", o.train_sets},
                   {"--input", {o.input}},
                   {"--model", {o.model}},
                   {"a file of --model", parts_of_models({o.model})},
                   {"--vocabs", o.vocabs}},
          .written = {{"--output", {o.output}}}};
}

CommandFiles files_of(const AlignCommandOptions& o) {
  return {.read = {{"--train-sets", o.train_sets},
                   {"--vocabs", o.vocabs},
                   {"--model", {o.model}},
                   {"a file of --model", parts_of_models({o.model})}},
          .written = {{"--output", {o.output}}, {"--shortlist", {o.shortlist}}}};
}

CommandFiles files_of(const ConvertCommandOptions& o) {
  CommandFiles files = files_of(static_cast<const ConvertOptions&>(o));
  files.read.push_back({"--verify", {o.verify}});
  return files;
}

CommandFiles files_of(const VocabOptions& o) {
  if (o.action == VocabAction::train) return {.read = {{"--input", o.inputs}}, .written = {{"--model", {o.model}}}};
  return {.read = {{"--input", o.inputs.empty() ? Files{"-"} : o.inputs}, {"--model", {o.model}}},
          .written = {{"--output", {o.output}}}};
}

CommandFiles files_of(const DetectOptions& o) {
  if (o.learn.empty())
    return {.read = {{"--model", {o.model}}, {"--input", o.inputs.empty() ? Files{"-"} : o.inputs}},
            .written = {{"--output", {o.output}}}};
  Files texts;
  for (auto& [language, path] : texts_to_learn(o)) texts.push_back(std::move(path));
  return {.read = {{"--learn", texts}}, .written = {{"--output", {o.output}}}};
}

CommandFiles files_of(const EvaluateCommandOptions& o) {
  return {.read = {{"--references", o.references},
                   {"--hypotheses", o.hypotheses},
                   {"--tokenize-model", {o.tokenize_model}}},
          .written = {to_stdout}};
}

CommandFiles files_of(const InspectOptions& o) {
  return {.read = {{"--model", {o.model}}, {"a file of --model", parts_of_models({o.model})}, {"--vocabs", o.vocabs}},
          .written = {to_stdout}};
}

CommandFiles files_of(const CompletionOptions&) { return {.read = {}, .written = {to_stdout}}; }

}  // namespace dragoman
