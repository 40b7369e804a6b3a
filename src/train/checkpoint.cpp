#include "train/checkpoint.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>

#include "base/log.h"
#include "base/number.h"
#include "io/config_json.h"
#include "io/finite.h"
#include "train/progress_json.h"

namespace dragoman {
namespace {

constexpr std::string_view second_moment = "second_moment/";
constexpr const char *state_format = "dragoman-state", *state_version = "2";

// The numbers of a run, with their names in the state file.
std::vector<NamedTensor> parameters_of(const RunState& run) {
  std::vector<NamedTensor> tensors;
  for (const auto& p : run.parameters.named()) tensors.push_back({"parameter/" + p.name, p.value});
  return tensors;
}

// Complete flat buffers, besides that of the parameters.
struct OptimizerState {
  Tensor first_moments, second_moments, averages;  // averages are empty if the run has none
};

std::vector<NamedTensor> moments_of(const RunState& run, const OptimizerState& state) {
  std::vector<NamedTensor> tensors;
  for (const auto& p : run.parameters.named()) {
    if (!p.has_gradient()) continue;
    tensors.push_back({"first_moment/" + p.name, run.parameters.part_of(state.first_moments, p)});
    tensors.push_back({std::string(second_moment) + p.name, run.parameters.part_of(state.second_moments, p)});
  }
  return tensors;
}

std::vector<NamedTensor> averages_of(const RunState& run, const OptimizerState& state) {
  std::vector<NamedTensor> tensors;
  if (!state.averages) return tensors;
  for (const auto& p : run.parameters.named())
    if (!p.frozen) tensors.push_back({"average/" + p.name, run.parameters.part_of(state.averages, p)});
  return tensors;
}

// Gathers the elements of all ranks on rank 0.
OptimizerState gathered(const RunState& run) {
  return {run.ownership.gathered(run.adam.first_moments()), run.ownership.gathered(run.adam.second_moments()),
          run.average ? run.ownership.gathered(run.average->averages()) : Tensor()};
}

// Has `read` fill a whole flat buffer, and keeps this rank's own elements; in place if it owns all.
void read_flat(const RunState& run, const Tensor& own, const std::function<void(const Tensor& whole)>& read) {
  if (run.ownership.alone()) return read(own);
  const Range r = run.ownership.own();
  const auto memory =
      std::make_shared<std::vector<std::byte>>(size_t(run.parameters.flat_elements() * size_of(own.dtype())));
  const Tensor whole(memory, memory->data(), {run.parameters.flat_elements()}, own.dtype());
  read(whole);
  own.assign(whole.row_range(r.begin, length(r)));
}

// Nobody else has this file, unlike models that one downloads.
constexpr const char* without_state =
    "to resume, restore a copy of this training state; or train another --model from the weights, with the model "
    "beside the state, or a checkpoint of --keep-last or --keep-best, as --pretrained-model; or start from scratch "
    "with "
    "--no-reload";

SafetensorsFile open_state(const std::string& path) {
  FileDescriptor::to_read(path);  // a file that cannot be read is not damaged
  try {
    return SafetensorsFile(path);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.what(), without_state);
  }
}

std::string entry(const SafetensorsFile& file, const char* key) {
  const auto found = file.metadata().find(key);
  require(found != file.metadata().end(), "{} is not a training state: it has no metadata '{}'", file.path(), key);
  return found->second;
}

std::string fingerprint_text(const BatchOrder& order) { return fmt::format("{:016x}", order.fingerprint); }

void read_progress(const SafetensorsFile& file, const RunState& run) {
  const StoredProgress stored = progress_from(entry(file, "progress"), file.path());
  run.progress = stored.progress;
  run.adam.steps = stored.adam_steps;
  run.baseline = stored.baseline;
}

// Squares of gradients, of whose means Adam takes the roots.
void require_not_negative(const Tensor& moments, const std::string& where) {
  for_dtype(moments.dtype(), [&]<class T>() {
    const std::span<const T> values(moments.as<T>(), size_t(moments.elements()));
    const auto found = std::ranges::find_if(values, [](T value) { return value < 0; });
    if (found != values.end())
      throw Error(fmt::format("{} holds {}, expected means of squares, which are not negative", where, *found),
                  without_state);
  });
}

void read_tensors(const SafetensorsFile& file, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& t : tensors) {
    const TensorEntry& from = file.get(t.name);
    const TensorEntry wanted = entry_of(t.name, t.value);
    require(from.dtype == wanted.dtype && from.shape == wanted.shape, "{}: {} is ({}) of {}, expected ({}) of {}",
            file.path(), t.name, fmt::join(from.shape, ","), from.dtype, fmt::join(wanted.shape, ","), wanted.dtype);
    const Tensor values = t.value.on_host();
    std::memcpy(values.data(), from.bytes.data(), from.bytes.size());
    require_finite(values, file.path() + ": " + t.name);
    if (t.name.starts_with(second_moment)) require_not_negative(values, file.path() + ": " + t.name);
    t.value.assign(values);
  }
}

bool has_averages(const SafetensorsFile& file) {
  return std::ranges::any_of(file.tensors(), [](const auto& t) { return t.name.starts_with("average/"); });
}

// A parameter that was frozen when the state was saved is its own average. One that is frozen from now on stays as the
// model file has it: at its average.
void read_averages(const SafetensorsFile& file, const RunState& run) {
  if (!run.average) return;
  if (!has_averages(file)) {
    run.average->restart();
    log_info("{} contains no averaged weights: --exponential-smoothing starts from its parameters", file.path());
    return;
  }
  const auto name_in_file = [&](const Parameters::Named& p) {
    return (file.find("average/" + p.name) ? "average/" : "parameter/") + p.name;
  };
  read_flat(run, run.average->averages(), [&](const Tensor& whole) {
    std::vector<NamedTensor> averages;
    for (const auto& p : run.parameters.named())
      if (!p.frozen) averages.push_back({name_in_file(p), run.parameters.part_of(whole, p)});
    read_tensors(file, averages);
  });
  std::vector<NamedTensor> frozen;
  for (const auto& p : run.parameters.named())
    if (p.frozen) frozen.push_back({name_in_file(p), p.value});
  read_tensors(file, frozen);
}

void clear(const Tensor& tensor) {
  const Tensor zeros = tensor.room_on_host();
  std::memset(zeros.data(), 0, size_t(zeros.bytes()));
  tensor.assign(zeros);
}

// A parameter that was frozen when the state was saved has no moments there: they begin at zero.
void read_moments(const SafetensorsFile& file, const RunState& run) {
  const auto read = [&](const Tensor& own, const std::string& prefix) {
    read_flat(run, own, [&](const Tensor& whole) {
      std::vector<NamedTensor> tensors;
      for (const auto& p : run.parameters.named()) {
        if (!p.has_gradient()) continue;
        const Tensor moments = run.parameters.part_of(whole, p);
        if (file.find(prefix + p.name))
          tensors.push_back({prefix + p.name, moments});
        else
          clear(moments);
      }
      read_tensors(file, tensors);
    });
  };
  read(run.adam.first_moments(), "first_moment/");
  read(run.adam.second_moments(), std::string(second_moment));
}

std::string products_in(TrainingPrecision precision) {
  return precision == TrainingPrecision::float32 ? "" : fmt::format(", products in {}", name_of(precision));
}

std::string arithmetic_of(const RunState& run) { return run.arithmetic + products_in(run.precision); }

// A state may be moved to another machine, and continue in another precision.
void compare_arithmetic(const SafetensorsFile& file, const RunState& run) {
  const std::string now = arithmetic_of(run);
  const auto stored = file.metadata().find("arithmetic");
  if (stored == file.metadata().end() || stored->second == now) return;
  const bool was_scaled = stored->second.ends_with(products_in(TrainingPrecision::float16));
  if (was_scaled != (run.precision == TrainingPrecision::float16))
    run.progress.loss_scale = LossScale::at_first(run.precision);
  log_info(
      "{} was computed by {}, but resumes with {}: the results will differ in the last digits from those of a run "
      "without this change",
      file.path(), stored->second, now);
}

// A product of several weights has one update, of which some rows may have been trained before --freeze named them.
void require_frozen_as_stored(const SafetensorsFile& file, const Parameters& parameters) {
  for (const auto& p : parameters.named()) {
    if (!p.is_update() || !matches(parameters.trainable().frozen, p.updated)) continue;
    if (std::ranges::all_of(file.get("parameter/" + p.name).bytes, [](std::byte b) { return b == std::byte{}; }))
      continue;
    throw Error(fmt::format("{} has an update of {}, which --freeze cannot keep as it was", file.path(), p.updated),
                "name the weights with --freeze from the beginning, or start another --model with this one as "
                "--pretrained-model");
  }
}

// The updates of another --lora-rank, or of weights that --freeze did not name then, would be lost, or be missing.
void require_updates(const SafetensorsFile& file, const Parameters& parameters) {
  std::map<std::string, std::vector<int64_t>> wanted, stored;
  for (const auto& p : parameters.named())
    if (p.is_update()) wanted["parameter/" + p.name] = entry_of(p.name, p.value).shape;
  for (const TensorEntry& t : file.tensors())
    if (t.name.starts_with("parameter/") && t.name.find(".lora_") != t.name.npos) stored[t.name] = t.shape;
  if (stored == wanted) return require_frozen_as_stored(file, parameters);
  const auto described = [](const auto& updates) {
    for (const auto& [name, shape] : updates)
      if (name.ends_with("lora_down")) return fmt::format("--lora-rank {}", shape[0]);
    return std::string("no --lora-rank");
  };
  const std::string before = described(stored), now = described(wanted);
  throw Error(fmt::format("{} was trained with {}, this run has {}", file.path(), before,
                          before == now ? "the same for other weights" : now),
              "give the same --lora-rank and --freeze again, or start another --model with this one as "
              "--pretrained-model");
}

// A resumed run may add exponential smoothing, but not drop it: the averages would be lost.
void require_state(const SafetensorsFile& file, const ModelConfig& config, bool averaged) {
  const std::string& path = file.path();
  require(entry(file, "format") == state_format, "{} is of format '{}', expected a training state", path,
          entry(file, "format"));
  require(entry(file, "version") == state_version, "{} is of state version {}, this dragoman reads {}", path,
          entry(file, "version"), state_version);
  require_same_model(path, config_from_json(entry(file, "config"), path), config);
  if (has_averages(file) && !averaged)
    throw Error(fmt::format("{} contains averaged weights, which would be lost without --exponential-smoothing", path),
                "give it again; to continue without averages, start another --model with this one as "
                "--pretrained-model");
}

void restart_epoch(Progress& progress) {
  progress.position.batch = 0;
  progress.epoch_sentences = 0;
}

// How a stream is cut into parts: the end of BatchOrder::options.
std::string_view parts_in(std::string_view options) {
  const size_t found = options.find(" --stream ");
  return found == options.npos ? "" : options.substr(found);
}

}  // namespace

CheckpointSize checkpoint_size(const Parameters& parameters, const Vocabularies& vocabularies, bool averaged) {
  int64_t learned = 0;
  for (const auto& p : parameters.named())
    if (p.has_gradient()) learned += p.value.elements();
  const int64_t weights = 4 * parameters.count();
  const int64_t vocabulary_bytes = int64_t(vocabularies.source.bytes().size() + vocabularies.target.bytes().size());
  return {weights + vocabulary_bytes, weights + 4 * parameters.update_count() + (averaged ? 3 : 2) * 4 * learned};
}

BatchOrder batch_order(const Corpus& corpus, const TrainingSetup& setup) {
  const DataOptions& d = setup.data;
  std::string options =
      fmt::format("--mini-batch-words {} --mini-batch {} --maxi-batch {} --seed {}{}", d.mini_batch_words, d.mini_batch,
                  d.maxi_batch, setup.training.seed, d.no_shuffle ? " --no-shuffle" : "");
  if (d.stream > 0) options += fmt::format(" --stream {}", d.stream);
  if (!d.corpus_weights.empty())  // only with weights do the ends of the corpora matter
    options += fmt::format(" --corpus-weights {} up to pairs {}", fmt::join(d.corpus_weights, " "),
                           fmt::join(corpus.ends, " "));
  return {corpus.fingerprint, options, d.mini_batch_words};
}

void save_state(const std::string& path, const RunState& run, const ModelConfig& config, const BatchOrder& order) {
  const OptimizerState state = gathered(run);
  if (run.ownership.ranks().rank() > 0) return;
  std::vector<NamedTensor> numbers;
  for (const auto& tensors : {parameters_of(run), moments_of(run, state), averages_of(run, state)})
    for (const NamedTensor& t : tensors) numbers.push_back({t.name, t.value.on_host()});
  std::vector<TensorEntry> entries;
  for (const NamedTensor& t : numbers) entries.push_back(entry_of(t.name, t.value));
  std::map<std::string, std::string> metadata = {
      {"format", state_format},
      {"version", state_version},
      {"config", to_json(config)},
      {"progress", to_json(StoredProgress{run.progress, run.adam.steps, run.baseline})},
      {"arithmetic", arithmetic_of(run)},
      {"corpus", fingerprint_text(order)},
      {"batches", order.options},
      {"batch_words", std::to_string(order.batch_words)}};
  if (run.ownership.slices() > 1) metadata["gradient_shards"] = std::to_string(run.ownership.slices());
  write_safetensors(path, std::move(entries), metadata);
}

namespace {

// A number in the metadata; nullopt if the file does not contain it.
std::optional<int64_t> number_in(const std::string& state_path, const char* key) {
  const SafetensorsFile file = open_state(state_path);
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return {};
  const std::string& text = found->second;
  const auto number = parse_number<int64_t>(text);
  require(number && *number >= 0, "{}: its {} are '{}', expected a number", state_path, key, text);
  return number;
}

}  // namespace

std::optional<int64_t> batch_words_of(const std::string& state_path) { return number_in(state_path, "batch_words"); }

int gradient_shards_of(const std::string& state_path) {
  const int64_t shards = number_in(state_path, "gradient_shards").value_or(1);
  require(shards <= most_gradient_shards && std::has_single_bit(uint64_t(shards)),
          "{}: its gradient_shards are {}, expected a power of two up to {}", state_path, shards, most_gradient_shards);
  return int(shards);
}

ModelConfig config_of_state(const std::string& state_path) {
  return config_from_json(entry(open_state(state_path), "config"), state_path);
}

void require_same_model(const std::string& path, const ModelConfig& stored, const ModelConfig& config) {
  // What --guided-alignment decides has no name of its own. Without it, its layer is often left out, too.
  const bool guided = stored.alignment.heads > 0, other_guidance = stored.alignment.heads != config.alignment.heads;
  ModelConfig alike = config;
  alike.alignment = stored.alignment;
  alike.initialisation = stored.initialisation;  // resumed weights do not begin again
  if (other_guidance && differences(stored, alike).empty())
    throw Error(fmt::format("{} was trained {} --guided-alignment", path, guided ? "with" : "without"),
                guided ? "give it again, or start another --model with this one as --pretrained-model"
                       : "leave it out, or start another --model with this one as --pretrained-model");
  std::string list;  // "--dim-emb is 128, here 256"
  if (other_guidance) list = fmt::format("it was trained {} --guided-alignment", guided ? "with" : "without");
  alike.alignment.layer = config.alignment.layer;
  for (const auto& [member, name, theirs, ours] : differences(stored, alike))
    list += fmt::format("{}{} is {}, here {}", list.empty() ? "" : "; ", name, theirs, ours);
  if (!list.empty())
    throw Error(fmt::format("{} belongs to another model: {}", path, list),
                "give the options it was trained with, another --model, or --no-reload to start from scratch");
}

void require_state_of(const std::string& path, const ModelConfig& config, const Parameters& parameters, bool averaged) {
  const SafetensorsFile file = open_state(path);
  require_state(file, config, averaged);
  require_updates(file, parameters);
}

void load_state(const std::string& path, const RunState& run, const ModelConfig& config, const BatchOrder& order,
                Restore restore) {
  const SafetensorsFile file = open_state(path);
  require_state(file, config, run.average.has_value());
  require_updates(file, run.parameters);
  read_tensors(file, parameters_of(run));
  read_averages(file, run);
  read_progress(file, run);
  if (restore.optimizer)
    read_moments(file, run);
  else
    run.adam.restart();
  compare_arithmetic(file, run);
  const std::string options = entry(file, "batches");
  const bool same_text = entry(file, "corpus") == fingerprint_text(order);
  if (restore.corpus && same_text && options == order.options) return;
  restart_epoch(run.progress);
  if (!restore.corpus || !same_text || parts_in(options) != parts_in(order.options)) {
    run.progress.stream_begin = run.progress.position.epoch;  // a stream is read from its beginning
    run.progress.stream_weight = 0;
  }
  if (!restore.corpus) return;
  log_warning("{}: resuming at the beginning of epoch {}",
              same_text ? fmt::format("the order of batches has changed from '{}' to '{}'", options, order.options)
                        : std::string("the training text or its encoding has changed"),
              run.progress.epoch());
}

}  // namespace dragoman
