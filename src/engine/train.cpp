#include "dragoman/train.h"

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/error.h"
#include "dragoman/engine.h"
#include "engine/run_training.h"
#include "options/fill.h"
#include "options/named_options.h"
#include "options/table_files.h"
#include "options/train_table.h"

namespace dragoman {
namespace {

void reject_engine_and_command_options(const std::vector<Option>& options, const Assignments& given,
                                       Findings& findings) {
  for (const Option& option : options)
    if (option.owner != Owner::work && given.contains(option.name))
      findings.add(Error(fmt::format("train() has no option --{}", option.name),
                         option.owner == Owner::engine ? "set it in EngineOptions" : "only the command line has it"));
}

// "cuda:0:tf32" is the device cuda:0 with fast math.
void compute_on(const Backend& backend, TrainOptions& options) {
  std::string_view device = backend.name;
  options.fast_math = device.ends_with(fast_backend);
  if (options.fast_math) device.remove_suffix(fast_backend.size());
  options.devices = {std::string(device)};
}

TrainOptions read(const NamedOptions& given, const Backend& backend) {
  const Table<TrainOptions> table = train_table();
  TrainOptions options;
  compute_on(backend, options);
  std::vector<Option> own = bind_flags(table.flags, options);
  Findings findings(table.about.name);
  Assignments assignments = read_named_options(given, own, findings);
  reject_engine_and_command_options(own, assignments, findings);
  fill(table, assignments, options, own, {}, findings);
  findings.finish();
  return options;
}

}  // namespace

TrainResult train(Engine& engine, const NamedOptions& given, const RunObserver& observer, RunControl* control) {
  const Engine::Scope scope(engine);
  const Backend& backend = engine.backend();
  TrainOptions options = read(given, backend);
  refuse_overwriting(files_of(train_table(), options));
  options.observer = observer;
  RunControl no_requests;
  return run_training(options, backend, control ? *control : no_requests, engine.ranks());
}

}  // namespace dragoman
