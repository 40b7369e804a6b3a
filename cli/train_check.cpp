
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/devices.h"
#include "cli/train_table.h"

namespace dragoman {
namespace {

void check_norm_placement(TrainOptions& o) {
  const bool post = o.preprocess.empty() && o.postprocess == "dan";
  const bool pre = o.preprocess == "n" && o.postprocess == "da";
  if (!post && !pre)
    throw Error(fmt::format("--transformer-preprocess '{}' and --transformer-postprocess '{}' do not go together",
                            o.preprocess, o.postprocess),
                "there are '' and dan (norm after each sublayer), n and da (before)");
  o.norm = pre ? NormPlacement::pre : NormPlacement::post;
}

void check_positions(TrainOptions& o, const Given& given) {
  if (!o.learned_positions) return;
  require(!given("transformer-positions") || o.positions == Positions::learned,
          "--transformer-train-position-embeddings contradicts --transformer-positions {}", name_of(o.positions));
  o.positions = Positions::learned;
}

void check_sizes(const TrainOptions& o) {
  const bool recurrent = o.type == "s2s";
  if (o.key_size == 0 && o.width() % o.heads != 0)
    throw Error(fmt::format("--dim-{} {} cannot be divided among --transformer-heads {}", recurrent ? "rnn" : "emb",
                            o.width(), o.heads),
                "or say how many columns a head has with --transformer-dim-key");
  require(recurrent || !sinusoids_added(o.positions) || o.dim % 2 == 0,
          "--dim-emb {} is odd, but sines and cosines of --transformer-positions {} come in pairs", o.dim,
          name_of(o.positions));
  const bool learned = o.positions == Positions::learned || o.attention_score == AttentionScore::location;
  require(!learned || o.max_length < o.max_positions,
          "--max-length {} and the end of sentence do not fit into --transformer-max-positions {}", o.max_length,
          o.max_positions);
}

void check_type(TrainOptions& o, const Given& given) {
  if (o.type != "transformer" && o.type != "decoder-only" && o.type != "s2s")
    throw Error(fmt::format("--type {}: there is no such model, only transformer, decoder-only and s2s", o.type),
                "leave --type out; --task transformer-base, -big and -tiny are sets of sizes");
  check_rnn(o, given);
  const bool alone = o.type == "decoder-only";
  require(alone || !o.learns_source, "--learn-source is for --type decoder-only, not for {}", o.type);
  require(alone || o.encoder_layers > 0, "--enc-depth 0 leaves --type {} without an encoder, expected 1 at least",
          o.type);
  if (!alone) return;
  const auto needs_encoder = [&](const char* option, bool asked) {
    require(!asked, "--{} is for models with an encoder, --type decoder-only has none", option);
  };
  needs_encoder("enc-depth", given("enc-depth") && o.encoder_layers > 0);
  for (const char* option : {"copy", "attention-local", "tied-embeddings-src"})
    needs_encoder(option, given.changed(option));
  if (o.vocabs.size() == 2 && o.vocabs[0] != o.vocabs[1])
    throw Error(fmt::format("--type decoder-only reads both sides with one vocabulary, but --vocabs are two: {}, {}",
                            o.vocabs[0], o.vocabs[1]),
                "give the same vocabulary twice");
  require(o.positions != Positions::learned || 2 * o.max_length + 2 <= o.max_positions,
          "--type decoder-only reads source and target as one sequence: twice --max-length {} does not fit into "
          "--transformer-max-positions {}",
          o.max_length, o.max_positions);
  o.encoder_layers = 0;
}

// With projections of their own, x·W_q and z·W_k, a bilinear score is the dot product's W = W_q W_kᵀ again.
void check_attention(const TrainOptions& o, const Given& given) {
  const auto score = name_of(o.attention_score), projections = name_of(o.attention_projections);
  const bool bilinear = o.attention_score == AttentionScore::bilinear,
             low = o.attention_score == AttentionScore::reduced_rank;
  const bool additive = o.attention_score == AttentionScore::additive;
  if ((bilinear || low) && o.attention_projections != Projections::none)
    throw Error(
        fmt::format("--attention-score {} has matrices of its own, so that --attention-projections {} would only "
                    "rename them",
                    score, projections),
        "give --attention-projections none, or --attention-score dot");
  if ((additive || o.attention_score == AttentionScore::location) && o.attention_norm != HeadNorm::none)
    throw Error(fmt::format("--attention-norm {} keeps dot products of queries and keys small, which --attention-score "
                            "{} does not need",
                            name_of(o.attention_norm), score),
                "leave it out, or give --attention-score scaled-dot");
  require(low || !given.changed("attention-rank"), "--attention-rank is for --attention-score reduced-rank, not for {}",
          score);
  require(o.positions == Positions::relative || !given.changed("transformer-relative-positions"),
          "--transformer-relative-positions is for --transformer-positions relative, not for {}", name_of(o.positions));
  const int whole = o.width() / o.heads;
  if (o.attention_projections == Projections::none)
    require(
        o.width() % o.heads == 0 && o.head_values() == whole && (low || additive || o.head_keys() == whole),
        "--attention-projections none takes a head's vectors as they are: --dim-{} {} / --transformer-heads {}; other "
        "sizes of keys and values cannot be",
        o.type == "s2s" ? "rnn" : "emb", o.width(), o.heads);
  require(o.attention_projections != Projections::key_value || o.head_keys() == o.head_values(),
          "--attention-projections key-value makes one vector of key and value, but --transformer-dim-key {} and "
          "--transformer-dim-value {} differ",
          o.head_keys(), o.head_values());
  require(o.positions != Positions::rotary || o.head_keys() % 2 == 0,
          "--transformer-positions rotary turns pairs of a head's columns, but a head has {} of them: use an even "
          "--transformer-dim-key",
          o.head_keys());
  require(o.positions != Positions::rotary || !additive,
          "--transformer-positions rotary turns queries and keys, which tells distances to dot products only: not with "
          "--attention-score additive");
}

// What tells distances in the scores would have to know which places a compressed key is of.
void check_memory(const TrainOptions& o, const Given& given) {
  const bool compressed = o.attention_memory == AttentionMemory::local_compressed;
  for (const char* option : {"attention-block", "attention-stride"})
    require(compressed || !given.changed(option), "--{} is for --attention-memory local-compressed, not for {}", option,
            name_of(o.attention_memory));
  if (!compressed) return;
  if (o.type != "decoder-only")
    throw Error(fmt::format("--attention-memory local-compressed is for --type decoder-only, not for {}", o.type),
                "--attention-window limits what other Transformers see of a long text");
  if (o.positions == Positions::relative || o.positions == Positions::rotary || o.positions == Positions::alibi)
    throw Error(
        fmt::format("--transformer-positions {} are of single keys, but --attention-memory local-compressed makes "
                    "one of several",
                    name_of(o.positions)),
        "use positions that are added to embeddings: sinusoidal, interleaved or learned");
  require(o.attention_score != AttentionScore::location,
          "--attention-score location has no keys that --attention-memory local-compressed could compress");
  require(o.attention_window == 0,
          "--attention-window {} contradicts --attention-memory local-compressed, whose local layers have blocks: give "
          "--attention-block",
          o.attention_window);
  require(
      o.decoder_layers >= 2,
      "--attention-memory local-compressed has local and compressed layers in turn, but --dec-depth is {}, expected "
      "2 at least",
      o.decoder_layers);
}

void check_autoregression(TrainOptions& o, const Given& given) {
  const auto kind = name_of(o.autoregression);
  const bool average = o.autoregression == Autoregression::average_attention;
  for (const char* option : {"transformer-dim-aan", "transformer-aan-activation", "transformer-aan-nogate"})
    require(average || !given.changed(option),
            "--{} is for --transformer-decoder-autoreg average-attention, not for {}", option, kind);
  o.average_gates = !o.no_average_gates;
  if (o.type == "decoder-only" && o.autoregression != Autoregression::self_attention)
    throw Error(fmt::format("--type decoder-only reads the source by self-attention alone, so "
                            "--transformer-decoder-autoreg {} would leave it nothing to look with",
                            kind),
                "leave --transformer-decoder-autoreg out, or take --type transformer");
}

// One matrix for everything is the default of joint vocabularies only; an explicit wish that cannot be is an error.
void check_tying(TrainOptions& o, const Given& given) {
  const bool joint = o.vocabs.size() < 2 || o.vocabs[0] == o.vocabs[1];
  if (!given("tied-embeddings-all")) {
    const bool partial = o.tied_embeddings || o.tied_embeddings_src;
    o.tied_embeddings_all = joint && !partial;
    if (!joint && !given("tied-embeddings")) o.tied_embeddings = true;
  }
  if (joint) return;
  if (o.copies)
    throw Error(fmt::format("--copy takes pieces of the source for the target, but --vocabs are two: {}, {}",
                            o.vocabs[0], o.vocabs[1]),
                "give the same vocabulary twice: where it is not there, it is learned from both sides");
  if (!o.ties_source()) return;
  throw Error(
      fmt::format("--tied-embeddings-{} shares a matrix between source and target, but --vocabs are two: {}, {}",
                  o.tied_embeddings_all ? "all" : "src", o.vocabs[0], o.vocabs[1]),
      "give the same vocabulary twice, or only --tied-embeddings");
}

void check_per_side(std::string_view option, size_t values) {
  require(values <= 2, "--{} takes one number for both sides or one each, found {}", option, values);
}

void check_rereadable(const std::string& file) {
  static constexpr auto read_again =
      "--train-sets, --data-weighting, --valid-sets and --vocabs are read more than once";
  require(file != "-", "{}, so '-' cannot be one", read_again);
  if (std::filesystem::is_fifo(file))
    throw Error(fmt::format("{}, but {} is a pipe", read_again, file), "write what comes through it to a file first");
}

void check_data(TrainOptions& o) {
  if (!o.train_sets.empty()) {  // a configuration that is only shown may lack them
    auto corpora = text_pairs("train-sets", o.train_sets, o.tsv);
    add_weights(corpora, o.data_weighting);
    require_weights(o.corpus_weights, corpora.size());
  }
  check_pair("vocabs", o.vocabs);
  if (o.tsv) {
    require(o.valid_sets.size() <= 1, "--valid-sets takes one file with --tsv, found {}: {}", o.valid_sets.size(),
            fmt::join(o.valid_sets, " "));
  } else {
    check_pair("valid-sets", o.valid_sets);
    require_one_side("valid-sets", o.valid_sets);
  }
  for (const auto& files : {o.train_sets, o.data_weighting, o.vocabs, o.valid_sets})
    for (const auto& file : files) check_rereadable(file);
  check_per_side("dim-vocabs", o.dim_vocabs.size());
  check_per_side("sentencepiece-alphas", o.sentencepiece_alphas.size());
  const bool joint = o.vocabs.size() == 2 && o.vocabs[0] == o.vocabs[1];
  if (joint && o.dim_vocabs.size() == 2 && o.dim_vocabs[0] != o.dim_vocabs[1])
    fail("--dim-vocabs {} {}: one joint vocabulary has one size", o.dim_vocabs[0], o.dim_vocabs[1]);
  require(o.mini_batch_words > 0 || o.mini_batch > 0,
          "--mini-batch-words and --mini-batch are both 0: no limit is left");
  const bool samples =
      std::any_of(o.sentencepiece_alphas.begin(), o.sentencepiece_alphas.end(), [](double a) { return a > 0; });
  require(!samples || !o.no_spm_encode,
          "--sentencepiece-alphas samples pieces, but --no-spm-encode says they are given");
}

void check_optimizer(TrainOptions& o) {
  require(o.optimizer_params.size() == 3, "--optimizer-params takes beta1, beta2 and epsilon, found {} numbers",
          o.optimizer_params.size());
  o.beta1 = o.optimizer_params[0], o.beta2 = o.optimizer_params[1], o.epsilon = o.optimizer_params[2];
  require(o.beta1 < 1 && o.beta2 < 1, "--optimizer-params: beta1 {} and beta2 {} must be below 1", o.beta1, o.beta2);
  if (o.decay_from > 0)
    require(o.schedule == Schedule::inverse_sqrt, "--lr-decay-inv-sqrt {} contradicts --lr-schedule {}", o.decay_from,
            name_of(o.schedule));
  const bool ends = o.schedule == Schedule::cosine || o.schedule == Schedule::linear;
  require(!ends || o.decay_updates > o.warmup,
          "--lr-schedule {} needs --lr-decay-updates above --lr-warmup {}, found {}", name_of(o.schedule), o.warmup,
          o.decay_updates);
  require(ends || o.decay_updates == 0, "--lr-decay-updates is for the schedules cosine and linear, not for {}",
          name_of(o.schedule));
  require(o.schedule != Schedule::noam || o.warmup > 0, "--lr-schedule noam divides by --lr-warmup, which is 0");
}

void check_valid_script(const TrainOptions& o) {
  const auto measured = [&](ValidMetric metric) { return std::ranges::count(o.valid_metrics, metric) > 0; };
  const bool asks = measured(ValidMetric::translation), has = !o.valid_script_path.empty();
  require(!asks || has, "--valid-metrics translation asks a script, but there is no --valid-script-path");
  if (has && !asks)
    throw Error(fmt::format("--valid-script-path {} is for --valid-metrics translation, which is not given",
                            o.valid_script_path),
                "add translation to --valid-metrics");
  require(o.valid_script_args.empty() || has, "--valid-script-args {} are for --valid-script-path, which is not given",
          fmt::join(o.valid_script_args, " "));
  const bool translates = asks || measured(ValidMetric::bleu) || measured(ValidMetric::chrf);
  if (!o.valid_translation_output.empty() && !translates)
    throw Error("--valid-translation-output: none of --valid-metrics translates",
                "add bleu, chrf or translation to --valid-metrics");
  require(o.valid_translation_output != "-", "--valid-translation-output is a file, so it cannot be '-'");
}

void check_precision(const TrainOptions& o) {
  if (o.devices[0] != "cpu") return;
  if (o.precision == TrainingPrecision::float16)
    throw Error("--precision float16 is for GPUs, and --devices is cpu",
                "leave --precision out, or take bfloat16 where the CPU has AVX-512 with BF16");
  if (o.precision != TrainingPrecision::bfloat16 || backend("cpu").multiplies_bfloat16) return;
  throw Error(fmt::format("--precision {}: this CPU ({}) does not multiply bfloat16, or the oneDNN installed has no "
                          "product for it",
                          name_of(o.precision), backend("cpu").instructions),
              "give --precision fastest or none; bfloat16 needs AVX-512 with BF16 (lscpu: avx512_bf16)");
}

void warn_without_validation(const TrainOptions& o, const Given& given) {
  if (!o.valid_sets.empty()) return;
  for (const char* option : {"early-stopping", "valid-freq", "valid-metrics", "beam-size", "normalize",
                             "valid-script-path", "valid-translation-output", "valid-max-lines"})
    if (given.changed(option)) log_warning("--{} does nothing: there are no --valid-sets", option);
}

void check_run(const TrainOptions& o) {
  require(!o.keep_best || !o.valid_sets.empty(), "--keep-best goes by validation, but there are no --valid-sets");
  require(!o.valid_metrics.empty(), "--valid-metrics needs a value");
  require(!o.overwrite || o.keep_last == 0, "--overwrite keeps no checkpoints, --keep-last {} does", o.keep_last);
  require(o.model != "-", "--model is a file that is written more than once, so it cannot be '-'");
  require(o.log_json != "-", "--log-json is a file that is appended to, so it cannot be '-'");
}

}  // namespace

void check_pair(std::string_view option, const std::vector<std::string>& files) {
  require(files.empty() || files.size() == 2, "--{} takes two files, source and target, found {}: {}", option,
          files.size(), fmt::join(files, " "));
  require(files.empty() || files[0] != "-" || files[1] != "-", "--{}: only one side can be '-' (stdin)", option);
}

void apply_task(TrainOptions& o) {
  if (o.task == Task::big || o.task == Task::big_prenorm)
    o.dim = 1024, o.feed_forward = 4096, o.heads = 16, o.dropout = 0.3;
  if (o.task == Task::tiny) {
    o.encoder_layers = o.decoder_layers = 4;
    o.dim = 128, o.feed_forward = 256, o.heads = 4, o.dropout = 0.3;
  }
  if (o.task == Task::tiny11) {  // Marian's: a deep encoder, which works once, and a decoder of little work a step
    o.encoder_layers = 6, o.decoder_layers = 2;
    o.dim = 256, o.feed_forward = 1536, o.heads = 8;
    o.autoregression = Autoregression::rnn;
  }
  if (o.task == Task::base_prenorm || o.task == Task::big_prenorm)
    o.preprocess = std::string("n"), o.postprocess = "da";
}

void check_train(TrainOptions& o, const Given& given) {
  o.devices = {backend_name(o.devices, o.fast_math)};
  if (o.mini_batch_fit && o.devices[0] == "cpu")
    throw Error("--mini-batch-fit is for GPUs: on a CPU, batches of any size go forward and back in parts",
                "give --mini-batch-words, or --devices 0");
  if (o.depth_scaling) o.initialisation = Initialisation::depth_scaled;
  check_norm_placement(o);
  check_positions(o, given);
  check_type(o, given);
  check_sizes(o);
  check_attention(o, given);
  check_memory(o, given);
  check_autoregression(o, given);
  check_experts(o, given);
  check_data(o);
  check_tying(o, given);
  check_optimizer(o);
  check_run(o);
  check_precision(o);
  check_valid_script(o);
  warn_without_validation(o, given);
}

}  // namespace dragoman
