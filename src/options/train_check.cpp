
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "data/corpus.h"
#include "model/validate.h"
#include "nn/scores/score_kind.h"
#include "options/shared_flags.h"
#include "options/train_table.h"
#include "vocab/trainer_options.h"

namespace dragoman {
namespace {

bool validates(const TrainOptions& o) { return !o.valid_sets.empty() && o.valid_freq.count > 0; }

bool on_cpu(const TrainOptions& o) { return o.devices.size() == 1 && o.devices[0] == "cpu"; }

// Marian's spellings of fields of the model.
void take_spellings(TrainOptions& o, const Given& given, Findings& findings) {
  const bool post = o.preprocess.empty() && o.postprocess == "dan";
  const bool pre = o.preprocess == "n" && o.postprocess == "da";
  if (!post && !pre)
    findings.add(
        Error(fmt::format("--transformer-preprocess '{}' and --transformer-postprocess '{}' cannot be combined",
                          o.preprocess, o.postprocess),
              "expected '' and dan (norm after each sublayer), or n and da (norm before it)"));
  o.norm = pre ? NormPlacement::pre : NormPlacement::post;
  o.initialisation = initialisation_of(o);
  o.average.gates = !o.no_average_gates;
  if (!o.learned_positions) return;
  findings.expect(!given("transformer-positions") || o.positions == Positions::learned,
                  "--transformer-train-position-embeddings contradicts --transformer-positions {}",
                  name_of(o.positions));
  o.positions = Positions::learned;
}

void check_decoder_cell(TrainOptions& o, Findings& findings) {
  if (o.type == ModelType::s2s) {
    findings.expect(o.dec_cell != DecoderCell::ssru,
                    "--dec-cell ssru is for --transformer-decoder-autoreg rnn, --type s2s has gru and lstm");
    o.rnn.decoder.cell = o.dec_cell == DecoderCell::lstm ? Cell::lstm : Cell::gru;
  } else if (o.dec_cell == DecoderCell::gru && o.autoregression != Autoregression::rnn) {
    log_warning("--dec-cell gru is ignored: a decoder of --type {} has no cells", name_of(o.type));  // Marian's default
    o.dec_cell = DecoderCell::automatic;
  } else {
    findings.expect(o.dec_cell == DecoderCell::automatic || o.dec_cell == DecoderCell::ssru,
                    "--dec-cell {} is for --type s2s; --transformer-decoder-autoreg rnn has ssru only",
                    name_of(o.dec_cell));
  }
}

// Does for options that are not fields of the model what refuse_unused() does for fields.
void refuse_unused_spellings(const TrainOptions& o, const Given& given, Findings& findings) {
  if (o.type == ModelType::s2s)
    for (const char* option :
         {"transformer-preprocess", "transformer-postprocess", "transformer-train-position-embeddings"})
      findings.expect(!given.changed(option), "--{} is for --type transformer, not for s2s", option);
  else
    findings.expect(!given.changed("sentence-ends"), "--sentence-ends is for --type s2s, not for {}", name_of(o.type));
  findings.expect(o.type != ModelType::s2s || o.depth_scaling != DepthScaling::always,
                  "--transformer-depth-scaling is for Transformers, not for --type s2s");
  findings.expect(o.autoregression == Autoregression::average_attention || !given.changed("transformer-aan-nogate"),
                  "--transformer-aan-nogate is for --transformer-decoder-autoreg average-attention, not for {}",
                  name_of(o.autoregression));
  if (o.type == ModelType::s2s)
    findings.expect(o.rnn.encoder.pooling == EncoderPooling::hierarchical || !given.changed("sentence-ends"),
                    "--sentence-ends is for --encoder-pooling hierarchical, not for {}",
                    name_of(o.rnn.encoder.pooling));
}

void check_lengths(const TrainOptions& o, Findings& findings) {
  const bool learned = o.positions == Positions::learned || score_kind(o.attention.score).keys_from_positions;
  findings.expect(!learned || o.max_length < o.max_positions,
                  "--max-length {} and the end of sentence do not fit into --transformer-max-positions {}",
                  o.max_length, o.max_positions);
  findings.expect(
      o.has_encoder() || o.positions != Positions::learned || 2 * o.max_length + 2 <= o.max_positions,
      "--type decoder-only reads source and target as one sequence: twice --max-length {} does not fit into "
      "--transformer-max-positions {}",
      o.max_length, o.max_positions);
}

void check_model(TrainOptions& o, const Given& given, Findings& findings) {
  take_spellings(o, given, findings);
  check_decoder_cell(o, findings);
  refuse_unused_spellings(o, given, findings);
  const bool all_used =
      findings.attempt([&] { refuse_unused(o, [&](std::string_view option) { return given.turned_on(option); }); });
  complete(o, given);
  if (!o.has_encoder() && o.vocabs.size() == 2 && o.vocabs[0] != o.vocabs[1])
    findings.add(Error(fmt::format("--type decoder-only needs a joint vocabulary, but --vocabs names two: {}, {}",
                                   o.vocabs[0], o.vocabs[1]),
                       "give the same vocabulary twice"));
  check_lengths(o, findings);
  if (all_used) findings.attempt([&] { validate(o); });
}

// Tying all embeddings is the default only with joint vocabularies; requesting it explicitly without them is an error.
void check_tying(TrainOptions& o, const Given& given, Findings& findings) {
  const bool joint = o.vocabs.size() < 2 || o.vocabs[0] == o.vocabs[1];
  if (!given("tied-embeddings-all")) {
    const bool partial = o.embeddings.tied_output || o.embeddings.tied_source;
    o.embeddings.tied_all = joint && !partial;
    if (!joint && !given("tied-embeddings")) o.embeddings.tied_output = true;
  }
  if (joint) return;
  if (o.copies)
    findings.add(
        Error(fmt::format("--copy needs a joint vocabulary, but --vocabs names two: {}, {}", o.vocabs[0], o.vocabs[1]),
              "give the same name twice; if the file is missing, it is learned from both sides"));
  // OPUS-MT's two vocabularies share their ids and an embedding matrix.
  const bool models_own = !o.pretrained_model.empty();
  if (!o.embeddings.ties_source() || models_own) return;
  findings.add(Error(fmt::format("--tied-embeddings-{} needs a joint vocabulary, but --vocabs names two: {}, {}",
                                 o.embeddings.tied_all ? "all" : "src", o.vocabs[0], o.vocabs[1]),
                     "give the same vocabulary twice, or only --tied-embeddings"));
}

void check_per_side(std::string_view option, size_t values, Findings& findings) {
  findings.expect(values <= 2, "--{} takes one number for both sides or one each, found {}", option, values);
}

void check_rereadable(std::string_view option, const Strings& files, Findings& findings) {
  static constexpr auto hint = "save the stream to a file, and name that";
  for (const std::string& file : files) {
    if (file == "-")
      findings.add(Error(fmt::format("--{} - is stdin, but train reads it more than once", option), hint));
    std::error_code unreadable;
    if (std::filesystem::is_fifo(file, unreadable))
      findings.add(Error(fmt::format("--{} {} is a pipe, but train reads it more than once", option, file), hint));
  }
}

// Text from pipes is a stream.
void check_stream(TrainOptions& o, bool pipes, Findings& findings) {
  if (pipes && o.stream == 0) o.stream = usual_stream_lines;
  int64_t from_stdin = 0;
  for (const Strings& files : {o.train_sets, o.data_weighting, o.guided_alignment})
    from_stdin += std::ranges::count(files, "-");
  findings.expect(from_stdin < 2, "only one file can come from stdin (-), found {}", from_stdin);
  if (o.stream > 0 && !o.corpus_weights.empty())
    findings.add(Error("--corpus-weights with --stream: text that is read once has no pair twice",
                       "mix the corpora in the program that writes the text"));
  if (pipes && o.dry_run)
    findings.add(
        Error("--dry-run reads the text, which a pipe has only once", "name files with some of the text for it"));
}

void check_data(TrainOptions& o, Findings& findings) {
  if (!o.train_sets.empty()) {  // a configuration that is only shown may lack them
    findings.attempt([&] {
      const auto corpora = training_texts(o);
      require_weights(o.corpus_weights, corpora.size());
      check_stream(o, std::ranges::any_of(files_of(corpora), is_pipe), findings);
    });
  }
  check_pair("vocabs", o.vocabs, findings);
  if (o.tsv) {
    findings.expect(o.valid_sets.size() <= 1, "--valid-sets takes one file with --tsv, found {}: {}",
                    o.valid_sets.size(), fmt::join(o.valid_sets, " "));
  } else {
    check_pair("valid-sets", o.valid_sets, findings);
    findings.attempt([&] { require_one_side("valid-sets", o.valid_sets); });
  }
  check_rereadable("vocabs", o.vocabs, findings);
  check_rereadable("valid-sets", o.valid_sets, findings);
  check_per_side("dim-vocabs", o.dim_vocabs.size(), findings);
  findings.attempt([&] { trainer_options(o.sentencepiece_options); });
  check_per_side("sentencepiece-alphas", o.sentencepiece_alphas.size(), findings);
  const bool joint = o.vocabs.size() == 2 && o.vocabs[0] == o.vocabs[1];
  if (joint && o.dim_vocabs.size() == 2)
    findings.expect(o.dim_vocabs[0] == o.dim_vocabs[1], "--dim-vocabs {} {}: one joint vocabulary has one size",
                    o.dim_vocabs[0], o.dim_vocabs[1]);
  findings.expect(o.mini_batch_words > 0 || o.mini_batch > 0,
                  "--mini-batch-words and --mini-batch are both 0: no limit is left");
  const bool samples =
      std::any_of(o.sentencepiece_alphas.begin(), o.sentencepiece_alphas.end(), [](double a) { return a > 0; });
  findings.expect(!samples || o.guided_alignment.empty(),
                  "--guided-alignment with --sentencepiece-alphas: links are of the pieces of one segmentation");
  findings.expect(!samples || !o.no_spm_encode,
                  "--sentencepiece-alphas samples segmentations, but with --no-spm-encode the text is already split");
}

void take_optimizer_params(TrainOptions& o, Findings& findings) {
  findings.expect(o.optimizer_params.size() == 3, "--optimizer-params takes beta1, beta2 and epsilon, found {} numbers",
                  o.optimizer_params.size());
  if (o.optimizer_params.size() != 3) return;
  o.beta1 = o.optimizer_params[0], o.beta2 = o.optimizer_params[1], o.epsilon = o.optimizer_params[2];
  findings.expect(o.beta1 < 1 && o.beta2 < 1, "--optimizer-params: beta1 {} and beta2 {} must be below 1", o.beta1,
                  o.beta2);
  constexpr double least_epsilon = 1e-30;  // far smaller ones are 0 in float
  findings.expect(o.epsilon >= least_epsilon, "--optimizer-params: epsilon {} must be at least {}", o.epsilon,
                  least_epsilon);
}

void check_lora(const TrainOptions& o, Findings& findings) {
  if (o.lora_rank == 0) return;
  if (o.pretrained_model.empty())
    findings.add(Error("--lora-rank trains updates of a model that has been trained, and --pretrained-model is missing",
                       "name that model, or leave out --lora-rank"));
  findings.expect(o.type != ModelType::s2s, "--lora-rank is for Transformers, and --type is s2s");
  findings.expect(o.lora_rank < o.dim, "--lora-rank {} must be below --dim-emb {}, the rank of most weights",
                  o.lora_rank, o.dim);
}

void check_schedule(const TrainOptions& o, Findings& findings) {
  if (o.decay_from > 0)
    findings.expect(o.schedule == Schedule::inverse_sqrt, "--lr-decay-inv-sqrt {} contradicts --lr-schedule {}",
                    o.decay_from, name_of(o.schedule));
  const bool ends = o.schedule == Schedule::cosine || o.schedule == Schedule::linear;
  findings.expect(!ends || o.decay_updates > o.warmup,
                  "--lr-schedule {} needs --lr-decay-updates above --lr-warmup {}, found {}", name_of(o.schedule),
                  o.warmup, o.decay_updates);
  findings.expect(ends || o.decay_updates == 0, "--lr-decay-updates is for the schedules cosine and linear, not for {}",
                  name_of(o.schedule));
  findings.expect(o.schedule != Schedule::noam || o.warmup > 0,
                  "--lr-schedule noam divides by --lr-warmup, which is 0");
  findings.expect(o.schedule != Schedule::noam || o.warmup_start == 0,
                  "--lr-warmup-start-rate {} contradicts --lr-schedule noam, whose formula begins at 0",
                  o.warmup_start);
  findings.expect(o.warmup_start <= o.learn_rate, "--lr-warmup-start-rate {} exceeds --learn-rate {}", o.warmup_start,
                  o.learn_rate);
}

void check_rate_decay(const TrainOptions& o, Findings& findings) {
  if (!o.decays()) return;
  const size_t wanted = o.has_two_starts() ? 2 : 1;
  if (o.decay_start.size() != wanted)
    findings.add(Error(
        fmt::format("--lr-decay-strategy {} takes {} in --lr-decay-start, found {}: {}", name_of(o.decay_strategy),
                    wanted == 2 ? "two numbers" : "one number", o.decay_start.size(), fmt::join(o.decay_start, " ")),
        wanted == 2 ? "the epoch, and the updates or validations: --lr-decay-start 10 1"
                    : "such as --lr-decay-start 3"));
  findings.expect(o.decay_strategy != DecayStrategy::stalled || validates(o),
                  "--lr-decay-strategy stalled needs validations: --valid-sets, with --valid-freq above 0");
}

// A metric may be given twice, also by another name.
void drop_repeated_metrics(TrainOptions& o) {
  std::vector<ValidMetric> unique;
  std::vector<double> epsilons;
  for (size_t m = 0; m < o.valid_metrics.size(); ++m) {
    if (std::ranges::count(unique, o.valid_metrics[m]) > 0) continue;
    unique.push_back(o.valid_metrics[m]);
    if (m < o.early_stopping_epsilon.size()) epsilons.push_back(o.early_stopping_epsilon[m]);
  }
  o.valid_metrics = std::move(unique);
  if (o.early_stopping_epsilon.size() > 1) o.early_stopping_epsilon = std::move(epsilons);
}

void check_valid_script(const TrainOptions& o, Findings& findings) {
  const auto measured = [&](ValidMetric metric) { return std::ranges::count(o.valid_metrics, metric) > 0; };
  const bool asks = measured(ValidMetric::translation), has = !o.valid_script_path.empty();
  findings.expect(!asks || has, "--valid-metrics translation needs --valid-script-path");
  if (has && !asks)
    findings.add(Error(fmt::format("--valid-script-path {} is for --valid-metrics translation, which is not given",
                                   o.valid_script_path),
                       "add translation to --valid-metrics"));
  findings.expect(o.valid_script_args.empty() || has,
                  "--valid-script-args {} are for --valid-script-path, which is not given",
                  fmt::join(o.valid_script_args, " "));
  const bool translates = asks || measured(ValidMetric::bleu) || measured(ValidMetric::chrf);
  if (!o.valid_translation_output.empty() && !translates)
    findings.add(Error("--valid-translation-output: none of --valid-metrics translates",
                       "add bleu, chrf or translation to --valid-metrics"));
  findings.expect(o.valid_translation_output != "-", "--valid-translation-output is a file, so it cannot be '-'");
}

// What contradicts itself comes before what this machine lacks.
void check_precision(const TrainOptions& o) {
  if (o.half_activations && o.type == ModelType::s2s)
    throw Error("--half-activations is for Transformers, and --type is s2s",
                "leave out --half-activations: recurrent cells compute in float32");
  if (!on_cpu(o)) return;
  if (o.precision == TrainingPrecision::float16)
    throw Error("--precision float16 is for GPUs, and --devices is cpu",
                "leave out --precision, or use bfloat16 if the CPU has AVX-512 with BF16");
  if (o.precision != TrainingPrecision::bfloat16 || backend("cpu").multiplies_bfloat16) return;
  throw Error(
      fmt::format("--precision {}: this CPU ({}), or the installed oneDNN, has no bfloat16 matrix product",
                  name_of(o.precision), backend("cpu").instructions),
      "leave out --precision, or give --precision fastest; bfloat16 needs AVX-512 with BF16 (lscpu: avx512_bf16)");
}

// On a CPU, --mini-batch-fit leaves the limits that Marian's configurations give besides it.
void ignore_fit_on_cpu(TrainOptions& o) {
  if (!o.mini_batch_fit || !on_cpu(o)) return;
  o.mini_batch_fit = false;
  Strings limits;
  if (o.mini_batch_words > 0) limits.push_back(fmt::format("--mini-batch-words {}", o.mini_batch_words));
  if (o.mini_batch > 0) limits.push_back(fmt::format("--mini-batch {}", o.mini_batch));
  log_warning("--mini-batch-fit is ignored on a CPU, where batches of any size fit into memory: they have {}",
              limits.empty() ? "no other limit" : fmt::format("{}", fmt::join(limits, " and ")));
}

void check_run(const TrainOptions& o, Findings& findings) {
  findings.expect(o.keep_best == 0 || validates(o), "--keep-best needs --valid-sets, with --valid-freq above 0");
  findings.expect(!o.valid_metrics.empty(), "--valid-metrics needs a value");
  const size_t epsilons = o.early_stopping_epsilon.size();
  findings.expect(epsilons == 1 || epsilons == o.valid_metrics.size(),
                  "--early-stopping-epsilon has {} numbers, --valid-metrics {} metrics, expected one or as many",
                  epsilons, o.valid_metrics.size());
  findings.expect(!o.overwrite || o.keep_last == 0,
                  "--overwrite keeps no checkpoints, which contradicts --keep-last {}", o.keep_last);
  findings.expect(o.model != "-", "--model is a file that is written more than once, so it cannot be '-'");
  for (const auto& [option, path] : {std::pair("log-json", o.log_json), {"log", o.log}, {"valid-log", o.valid_log}})
    findings.expect(path != "-", "--{} is a file that is appended to, so it cannot be '-'", option);
}

}  // namespace

void apply_task(TrainOptions& o) {
  apply_task(o, o.task);
  if (o.norm == NormPlacement::pre) o.preprocess = std::string("n"), o.postprocess = "da";
}

void check_train(TrainOptions& o, const Given& given, Findings& findings) {
  findings.attempt([&] { o.devices = backend_names(o.devices, o.fast_math); });
  ignore_fit_on_cpu(o);
  // A complete configuration file also lists options with their defaults.
  const bool listed = !given.file_of("decoder-start").empty() && !given.changed("decoder-start");
  o.decoder_start_by_vocabulary = !given("decoder-start") || listed;
  check_model(o, given, findings);
  check_data(o, findings);
  check_tying(o, given, findings);
  take_optimizer_params(o, findings);
  check_lora(o, findings);
  check_schedule(o, findings);
  check_rate_decay(o, findings);
  check_run(o, findings);
  drop_repeated_metrics(o);
  findings.attempt([&] { check_precision(o); });
  check_valid_script(o, findings);
  findings.attempt([&] { require_tokenizer_without_model("valid-tokenize", o.valid_tokenize); });
  if (!findings.empty()) return;
  warn_of_unused(o, given);
}

}  // namespace dragoman
