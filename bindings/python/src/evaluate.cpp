#include "dragoman/evaluate.h"

#include "base/error.h"
#include "bindings/python/src/machine.h"
#include "bindings/python/src/named.h"
#include "metrics/signature.h"
#include "metrics/tokenize.h"

namespace dragoman::python {
namespace {

using Lines = std::vector<std::string>;

// A metric of one text, with its signature.
struct TextScore {
  MetricScore score;
  std::string signature;
};

std::vector<TextScore> evaluate_text(const Machine& machine, Lines hypotheses, std::vector<Lines> references,
                                     const std::vector<std::string>& metrics, EvaluateOptions options) {
  options.metrics.clear();
  for (const std::string& metric : metrics) options.metrics.push_back(named<CorpusMetric>(metric, "metrics"));
  std::vector<EvaluatedText> texts;
  for (Lines& lines : references) texts.push_back({fmt::format("reference {}", texts.size() + 1), std::move(lines)});
  const auto engine = engine_of(machine);
  const WithoutLock unlocked;
  Evaluation evaluation =
      evaluate(*engine, std::move(options), std::move(texts), {{"hypotheses", std::move(hypotheses)}});
  std::vector<TextScore> scores;
  for (MetricScore& score : evaluation.systems.at(0).scores) {
    std::string signature;
    for (const MetricSignature& s : evaluation.signatures)
      if (score.name.starts_with(s.name)) signature = s.text;  // rouge's is of rouge1, rouge2 and rougeL
    scores.push_back({std::move(score), std::move(signature)});
  }
  return scores;
}

std::string repr_of_score(const TextScore& s) {
  return fmt::format("MetricScore({} = {:.2f}, signature='{}')", s.score.title, s.score.score, s.signature);
}

// What Python sees, for pickle and copy.
py::tuple score_state(const TextScore& s) {
  std::optional<std::pair<double, double>> interval;
  if (s.score.interval) interval = {s.score.interval->mean, s.score.interval->half_width};
  return py::make_tuple(s.score.name, s.score.title, s.score.score, interval, s.signature);
}

TextScore score_from_state(const py::tuple& state) {
  TextScore s;
  s.score.name = state[0].cast<std::string>();
  s.score.title = state[1].cast<std::string>();
  s.score.score = state[2].cast<double>();
  if (const auto interval = state[3].cast<std::optional<std::pair<double, double>>>())
    s.score.interval = {.mean = interval->first, .half_width = interval->second};
  s.signature = state[4].cast<std::string>();
  return s;
}

}  // namespace

void add_evaluate(py::module_& module) {
  using namespace py::literals;
  py::class_<TextScore>(module, "MetricScore", "A metric of a text.")
      .def_property_readonly(
          "name", [](const TextScore& s) { return s.score.name; }, "Such as ``chrf``.")
      .def_property_readonly(
          "title", [](const TextScore& s) { return s.score.title; }, "Such as ``chrF2``.")
      .def_property_readonly(
          "score", [](const TextScore& s) { return s.score.score; },
          "0 to 100, higher is better; of TER 0 or more, lower is better.")
      .def_property_readonly(
          "interval",
          [](const TextScore& s) -> std::optional<std::pair<double, double>> {
            if (!s.score.interval) return std::nullopt;
            const auto [mean, half_width] = *s.score.interval;
            return std::pair(mean - half_width, mean + half_width);
          },
          "With ``confidence``: the least and the greatest score of an interval of 95 %, by resampling.")
      .def_readonly("signature", &TextScore::signature, "How it was computed, in sacreBLEU's format.")
      .def("__float__", [](const TextScore& s) { return s.score.score; })
      .def("__repr__", repr_of_score)
      .def(py::pickle(&score_state, &score_from_state));
  module.def(
      "evaluate",
      [](Lines hypotheses, std::vector<Lines> references, const std::vector<std::string>& metrics,
         const std::string& tokenize, const std::string& tokenize_model, bool lowercase, bool confidence, int threads,
         py::object log) {
        return evaluate_text({"cpu", threads, std::move(log)}, std::move(hypotheses), std::move(references), metrics,
                             {.tokenize = named<Tokenizer>(tokenize, "tokenize"),
                              .tokenize_model = tokenize_model,
                              .lowercase = lowercase,
                              .confidence = confidence});
      },
      py::kw_only(), "hypotheses"_a, "references"_a, "metrics"_a, "tokenize"_a, "tokenize_model"_a, "lowercase"_a,
      "confidence"_a, "threads"_a, "log"_a);
}

}  // namespace dragoman::python
