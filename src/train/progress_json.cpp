#include "train/progress_json.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json_text.h"

namespace dragoman {
namespace {

using nlohmann::json;

// Reads numbers and texts from a state's JSON and checks their ranges.
class Numbers {
 public:
  Numbers(const json& in, const std::string& path) : in_(in), path_(path) {}

  int64_t count(const char* key) const { return count_in(key, get(key)); }
  int64_t count(const char* key, int64_t otherwise) const {  // the first state files did not have all of them
    return in_.contains(key) ? count(key) : otherwise;
  }

  int length(const char* key) const { return int(number(key, 0, 0, std::numeric_limits<int>::max())); }

  double number(const char* key, double otherwise, double least, double most) const {
    return in_.contains(key) ? number_in(key, in_.at(key), least, most) : otherwise;
  }

  // A state of an older version has the count of one metric, which an unknown one is called "" here.
  std::map<std::string, int64_t> stalled() const {
    const json& metrics = get("stalled");
    std::map<std::string, int64_t> counts;
    if (metrics.is_object()) {
      for (const auto& [metric, value] : metrics.items()) counts[metric] = count_in("stalled." + metric, value);
    } else if (const int64_t first = count("stalled"); first > 0) {
      counts[in_.contains("deciding") ? text("deciding") : ""] = first;
    }
    return counts;
  }

  std::map<std::string, double> figures(const std::string& key) const { return figures_in(key, get(key)); }

  std::map<std::string, std::map<int64_t, double>> kept_updates() const {
    const std::string key = "kept_updates";
    const json& metrics = get(key.c_str());
    if (!metrics.is_object()) complain(key, metrics, "an object");
    std::map<std::string, std::map<int64_t, double>> kept;
    for (const auto& [metric, updates] : metrics.items())
      for (const auto& [update, value] : figures_in(key + "." + metric, updates)) {
        const bool number = update.size() < 18 && update.find_first_not_of("0123456789") == std::string::npos;
        if (!number || update.empty()) complain(key + "." + metric, updates, "numbers of updates");
        kept[metric][std::stoll(update)] = value;
      }
    return kept;
  }

  std::map<std::string, std::string> texts(const std::string& key) const {
    const json& values = get(key);
    if (!values.is_object()) complain(key, values, "an object");
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : values.items()) texts[name] = text_in(key + "." + name, value);
    return texts;
  }

  std::string text(const char* key) const { return text_in(key, get(key)); }

  LossScale loss_scale() const {
    constexpr double largest_scale = 0x1p127;
    const LossScale scale{number("loss_scale", 1, LossScale::least, largest_scale), count("loss_scale_since", 0)};
    int exponent = 0;
    if (std::frexp(scale.value, &exponent) != 0.5) complain("loss_scale", in_.at("loss_scale"), "a power of two");
    return scale;
  }

 private:
  static constexpr double largest = std::numeric_limits<double>::max();
  static constexpr int64_t most = 1'000'000'000'000'000;

  const json& get(const std::string& key) const {
    const auto found = in_.find(key);
    require(found != in_.end(), "{}: its progress has no '{}'", path_, key);
    return *found;
  }

  std::map<std::string, double> figures_in(const std::string& key, const json& metrics) const {
    if (!metrics.is_object()) complain(key, metrics, "an object");
    std::map<std::string, double> figures;
    for (const auto& [metric, value] : metrics.items())
      figures[metric] = number_in(key + "." + metric, value, -largest, largest);
    return figures;
  }

  int64_t count_in(const std::string& key, const json& value) const {
    const bool fits = value.is_number_unsigned() && value.get<uint64_t>() <= uint64_t{most};
    if (!fits) complain(key, value, fmt::format("a whole number from 0 to {}", most));
    return value.get<int64_t>();
  }

  double number_in(const std::string& key, const json& value, double low, double high) const {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!(number >= low && number <= high)) complain(key, value, fmt::format("a number from {} to {}", low, high));
    return number;
  }

  std::string text_in(const std::string& key, const json& value) const {
    if (!value.is_string()) complain(key, value, "a text");
    return value.get<std::string>();
  }

  [[noreturn]] void complain(const std::string& key, const json& value, const std::string& expected) const {
    const std::string found = json_text(value);
    throw Error(fmt::format("{}: '{}' is {} in its progress, expected {}", path_, key, found, expected),
                "the state is damaged: use another, or start from scratch with --no-reload");
  }

  const json& in_;
  const std::string& path_;
};

}  // namespace

std::string to_json(const StoredProgress& stored) {
  const Progress& p = stored.progress;
  json out = {{"updates", p.updates},
              {"target_tokens", p.target_tokens},
              {"sentences", p.sentences},
              {"epoch_sentences", p.epoch_sentences},
              {"skipped", p.skipped},
              {"skipped_in_a_row", p.skipped_in_a_row},
              {"baseline", stored.baseline.value},
              {"rollbacks", p.rollbacks},
              {"loss_scale", p.loss_scale.value},
              {"loss_scale_since", p.loss_scale.since},
              {"stalled", p.stalled},
              {"best", p.best},
              {"epoch", p.position.epoch},
              {"batch", p.position.batch},
              {"adam_steps", stored.adam_steps}};
  if (p.kept.values != p.best) out["kept"] = p.kept.values;
  for (const auto& [metric, updates] : p.kept.updates)
    for (const auto& [update, value] : updates) out["kept_updates"][metric][std::to_string(update)] = value;
  if (!p.measured.empty()) out["measured"] = p.measured;
  if (p.validated > 0) out["validated"] = p.validated;
  if (p.most_stalled > 0) out["most_stalled"] = p.most_stalled;
  if (p.stream_begin > 0) out["stream_begin"] = p.stream_begin;
  if (p.stream_weight > 0) out["stream_weight"] = p.stream_weight;
  if (p.longest.source > 0) out["longest_source"] = p.longest.source;
  if (p.longest.target > 0) out["longest_target"] = p.longest.target;
  if (p.decayed != 1) out["decayed"] = p.decayed;
  if (p.rate_factor() != 1) out["reduced_rate"] = p.reduced_rate;
  return out.dump();
}

StoredProgress progress_from(const std::string& text, const std::string& path) {
  const json in = parse_json(text);
  require(in.is_object(), "{}: its progress is not a JSON object", path);
  const Numbers numbers(in, path);
  constexpr double largest = std::numeric_limits<double>::max();
  Progress p;
  p.updates = numbers.count("updates");
  p.target_tokens = numbers.count("target_tokens");
  p.sentences = numbers.count("sentences");
  p.epoch_sentences = numbers.count("epoch_sentences");
  p.skipped = numbers.count("skipped");
  p.skipped_in_a_row = numbers.count("skipped_in_a_row", 0);
  p.rollbacks = numbers.count("rollbacks", 0);
  p.decayed = numbers.number("decayed", 1, 0, 1);
  const double halved = numbers.number("halved_rate", 0, 0, largest);  // the name in older versions
  p.reduced_rate = numbers.number("reduced_rate", halved, 0, largest);
  p.loss_scale = numbers.loss_scale();
  p.stalled = numbers.stalled();
  p.most_stalled = numbers.count("most_stalled", 0);
  p.best = numbers.figures("best");
  p.kept.values = in.contains("kept") ? numbers.figures("kept") : p.best;
  if (in.contains("kept_updates")) p.kept.updates = numbers.kept_updates();
  if (in.contains("measured")) p.measured = numbers.texts("measured");
  p.validated = numbers.count("validated", 0);
  p.position = {numbers.count("epoch"), numbers.count("batch")};
  p.stream_begin = numbers.count("stream_begin", 0);
  p.stream_weight = numbers.number("stream_weight", 0, 0, largest);
  p.longest = {numbers.length("longest_source"), numbers.length("longest_target")};
  const Baseline baseline{numbers.number("baseline", 0, 0, largest)};
  return {p, numbers.count("adam_steps"), baseline};
}

}  // namespace dragoman
