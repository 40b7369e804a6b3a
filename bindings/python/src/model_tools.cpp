#include "bindings/python/src/machine.h"
#include "bindings/python/src/named.h"
#include "dragoman/average.h"
#include "dragoman/convert.h"
#include "dragoman/quantize.h"
#include "engine/model_format.h"
#include "metrics/tokenize.h"

namespace dragoman::python {
namespace {

using namespace py::literals;

// BLEU and chrF.
using Quality = std::optional<std::pair<double, double>>;

Quality quality_of(const std::optional<TranslationQuality>& found) {
  return found ? Quality({found->bleu, found->chrf}) : std::nullopt;
}

void add_convert(py::module_& module) {
  module.def(
      "convert",
      [](std::string input, std::string output, const std::string& format, std::vector<std::string> vocabs,
         std::string source_lang, std::string target_lang, py::object log) {
        const auto engine = engine_of({"cpu", 1, std::move(log)});
        const ConvertOptions options{.input = std::move(input),
                                     .output = std::move(output),
                                     .format = named<ModelFormat>(format, "format"),
                                     .vocabs = std::move(vocabs),
                                     .source_lang = std::move(source_lang),
                                     .target_lang = std::move(target_lang)};
        const WithoutLock unlocked;
        convert_model(*engine, options);
      },
      py::kw_only(), "input"_a, "output"_a, "format"_a, "vocabs"_a, "source_lang"_a, "target_lang"_a, "log"_a);
}

void add_average(py::module_& module) {
  module.def(
      "average",
      [](std::vector<std::string> models, std::string output, std::vector<std::string> vocabs, int threads,
         py::object log) {
        const auto engine = engine_of({"cpu", threads, std::move(log)});
        const AverageOptions options{
            .output = std::move(output), .models = std::move(models), .vocabs = std::move(vocabs)};
        const WithoutLock unlocked;
        average_models(*engine, options);
      },
      py::kw_only(), "models"_a, "output"_a, "vocabs"_a, "threads"_a, "log"_a);
}

void add_quantize(py::module_& module) {
  module.def(
      "quantize",
      [](std::string model, std::string output, std::vector<std::string> valid_sets, double gate, int beam_size,
         const std::string& tokenize, std::vector<std::string> vocabs, std::string source_lang, std::string target_lang,
         std::string device, int threads, py::object log) {
        const auto engine = engine_of({std::move(device), threads, std::move(log)});
        const QuantizeOptions options{.model = std::move(model),
                                      .output = std::move(output),
                                      .valid_sets = std::move(valid_sets),
                                      .gate = gate,
                                      .beam_size = beam_size,
                                      .tokenize = named<Tokenizer>(tokenize, "tokenize"),
                                      .vocabs = std::move(vocabs),
                                      .source_lang = std::move(source_lang),
                                      .target_lang = std::move(target_lang)};
        const WithoutLock unlocked;
        const QuantizeResult r = quantize(*engine, options);
        return std::tuple(r.bytes_before, r.bytes_after, quality_of(r.float32), quality_of(r.int8));
      },
      py::kw_only(), "model"_a, "output"_a, "valid_sets"_a, "gate"_a, "beam_size"_a, "tokenize"_a, "vocabs"_a,
      "source_lang"_a, "target_lang"_a, "device"_a, "threads"_a, "log"_a);
}

}  // namespace

void add_model_tools(py::module_& module) {
  add_convert(module);
  add_average(module);
  add_quantize(module);
}

}  // namespace dragoman::python
