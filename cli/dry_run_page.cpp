#include "cli/dry_run_page.h"

#include <algorithm>
#include <cmath>

#include "base/grouped.h"
#include "cli/survey_page.h"
#include "runlog/text_log.h"

namespace dragoman {
namespace {

std::string rounded(double number) { return grouped(int64_t(std::llround(number))); }

std::string about(const DryRun& run, double number) { return (run.sampled ? "about " : "") + rounded(number); }

void add_model(FactPage& page, const DryRun& run, const TrainOptions& o) {
  page.heading("Model");
  page.fact("parameters", fmt::format("{}, {} + {} layers of dim {}", grouped(run.parameters), o.encoder_layers,
                                      o.decoder_layers, o.dim));
  if (run.of_updates > 0) page.fact("parameters of updates", grouped(run.of_updates) + ", which are trained");
  page.fact("memory", fmt::format("{} for weights, gradients and optimizer, {} with the largest batch{}",
                                  in_mebibytes(run.memory.parameters), in_mebibytes(run.memory.peak),
                                  run.sampled ? " of the sample" : ""));
  if (run.besides > 0)
    page.fact("memory of the process",
              fmt::format("about {}: {} more for the program, its libraries and the text",
                          in_mebibytes(run.memory.peak + run.besides), in_mebibytes(run.besides)));
  if (o.mini_batch_fit) page.fact("batches that fit", grouped(run.batch_words) + " target tokens");
  page.fact("a checkpoint on disk",
            fmt::format("{} for the model, {} for the state; {} are free", in_mebibytes(run.checkpoint.model),
                        in_mebibytes(run.checkpoint.state), in_mebibytes(run.free_disk)));
  for (const auto& [path, model] : run.missing_vocabularies)
    page.fact("vocabulary",
              path + (model.empty() ? " is missing and would be created; this report uses a temporary one"
                                    : " is missing and would be written from the vocabulary of " + model));
  if (run.resumes) page.fact("resumes", fmt::format("from the training state of {}", o.model));
}

void add_epoch(FactPage& page, const DryRun& run) {
  page.heading("An epoch");
  page.fact("updates", about(run, run.updates));
  page.fact("target tokens", about(run, run.target_tokens));
  page.fact("speed", fmt::format("{} target tokens/s, measured over {} updates on this machine",
                                 rounded(run.target_tokens_per_second), run.measured_updates));
  page.fact("time", "about " + grouped_seconds(run.target_tokens / run.target_tokens_per_second));
}

void add_run(FactPage& page, const DryRun& run, const TrainOptions& o) {
  page.heading(run.resumes ? "The run, from its beginning" : "The run");
  const bool stops_early = !o.valid_sets.empty() && o.early_stopping > 0 && o.valid_freq.count > 0;
  if (const auto length = length_of_run(run, o.after))
    page.fact("ends",
              fmt::format("after {} updates ({:.3g} epochs), about {}, without validation and saving",
                          rounded(length->updates), length->updates / run.updates, grouped_seconds(length->seconds)));
  else if (!stops_early)
    page.fact("ends", "never: give --after, or --valid-sets with --early-stopping and --valid-freq above 0");
  if (stops_early)
    page.fact(o.after.empty() ? "ends" : "or ends",
              fmt::format("after {} validations without improvement, at an unknown time", o.early_stopping));
}

}  // namespace

std::string dry_run_page(const DryRun& run, const TrainOptions& o) {
  FactPage page("Dry run: all checks passed, nothing was written");
  add_run(page, run, o);
  add_model(page, run, o);
  add_epoch(page, run);
  add_survey(page, run.corpus, o.max_length, o.max_length_crop);
  return page.text();
}

}  // namespace dragoman
