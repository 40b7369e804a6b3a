#include "cli/inspect_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/grouped.h"
#include "base/json_text.h"
#include "cli/inspect_model.h"
#include "interop/open_model.h"
#include "io/safetensors.h"
#include "vocab/container.h"

namespace dragoman {
namespace {

// A wrong checksum would have been an Error when the file was opened.
std::string checksum_in_words(const Metadata& metadata) {
  const auto found = metadata.find("checksum");
  return found == metadata.end() ? "none: not written by dragoman, or edited since" : "ok, " + found->second;
}

std::string text_of(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

int64_t elements(const TensorEntry& tensor) { return int64_t(tensor.bytes.size()) / size_of(tensor.dtype); }

int64_t elements(const SafetensorsFile& file) {
  int64_t sum = 0;
  for (const TensorEntry& t : file.tensors()) sum += elements(t);
  return sum;
}

Json json_of(const SafetensorsFile& file, const char* kind) {
  Json json{{"file", file.path()}, {"kind", kind}, {"bytes", stored_bytes(file)}};
  if (const std::string version = text_of(file.metadata(), "version"); !version.empty())
    json["format_version"] = version;
  json["checksum"] = file.metadata().contains("checksum") ? Json("ok") : Json();
  return json;
}

void add_tensors(Json& json, const SafetensorsFile& file) {
  json["tensors"] = Json::array();
  for (const TensorEntry& t : file.tensors())
    json["tensors"].push_back({{"name", t.name}, {"dtype", name_of(t.dtype)}, {"shape", t.shape}});
}

void add_file_facts(FactPage& page, const SafetensorsFile& file) {
  page.heading("File");
  page.fact("size", exact_size(stored_bytes(file)));
  if (const std::string version = text_of(file.metadata(), "version"); !version.empty())
    page.fact("format", fmt::format("{}, version {}", text_of(file.metadata(), "format"), version));
  page.fact("checksum", checksum_in_words(file.metadata()));
}

Description describe_model(const ModelFile& model, const char* kind) {
  const SafetensorsFile& file = model.tensors();
  Description d{FactPage(fmt::format("{}: {}", file.path(), kind)), json_of(file, "model")};
  add_model(d, model);
  add_file_facts(d.page, file);
  add_tensors(d.json, file);
  return d;
}

// "dir/model.state.safetensors" belongs to "dir/model.safetensors".
std::string model_beside(std::string state) {
  const size_t word = state.rfind(".state");
  return word == state.npos ? "its model" : state.erase(word, std::string_view(".state").size());
}

void add_progress(Description& d, const Json& progress) {
  d.json["progress"] = progress;
  d.page.heading("Progress");
  const auto number = [&](const char* key) -> std::optional<int64_t> {
    const auto found = progress.find(key);
    if (found == progress.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<int64_t>();
  };
  const auto add = [&](const char* label, std::optional<int64_t> value) {
    if (value) d.page.fact(label, grouped(*value));
  };
  add("updates", number("updates"));
  // The file counts from 0, and at the end of an epoch it has the beginning of the next one.
  const auto epoch = number("epoch");
  const bool ended = epoch > 0 && number("batch") == 0;
  add("epoch", epoch && !ended ? *epoch + 1 : epoch);
  add("sentences", number("sentences"));
  add("target tokens", number("target_tokens"));
}

Description describe_state(const SafetensorsFile& file) {
  Description d{FactPage(file.path() + ": a training state, not a model"), json_of(file, "training-state")};
  const Json progress = parse_json<Json>(text_of(file.metadata(), "progress"));
  if (progress.is_object()) add_progress(d, progress);
  d.page.heading("Use");
  d.page.fact("train", "resumes from it with --model " + model_beside(file.path()));
  d.page.fact("translate", "needs " + model_beside(file.path()));
  d.page.heading("Contents");
  d.page.fact("tensors", grouped(file.tensors().size()));
  d.page.fact("numbers", grouped(elements(file)));
  add_file_facts(d.page, file);
  add_tensors(d.json, file);
  return d;
}

std::string shortened(const std::string& text) {
  constexpr size_t limit = 60;
  return text.size() <= limit ? text : fmt::format("{}… ({} bytes)", text.substr(0, limit), grouped(text.size()));
}

Description describe_shortlist(const SafetensorsFile& file) {
  const auto numbers = [&](const char* name) { return elements(file.get(name)); };
  Description d{FactPage(file.path() + ": a shortlist, not a model"), json_of(file, "shortlist")};
  const int64_t source = numbers("begins") - 1;
  d.page.heading("Contents");
  d.page.fact("source pieces", grouped(source));
  d.page.fact("per sentence", grouped(numbers("first")) + " target pieces");
  d.page.fact("per source piece",
              fmt::format("{:.1f} target pieces", double(numbers("best")) / double(std::max<int64_t>(1, source))));
  d.json.update({{"source_pieces", source}, {"first", numbers("first")}, {"best", numbers("best")}});
  add_file_facts(d.page, file);
  return d;
}

Description describe_foreign(const SafetensorsFile& file) {
  Description d{FactPage(file.path() + ": a safetensors file of another program, not a dragoman model"),
                json_of(file, "safetensors")};
  d.page.heading(fmt::format("Tensors ({}, {} numbers)", grouped(file.tensors().size()), grouped(elements(file))));
  for (const TensorEntry& t : file.tensors())
    d.page.fact(t.name, fmt::format("{:<4} ({})", t.dtype, fmt::join(t.shape, ",")));
  if (!file.metadata().empty()) d.page.heading("Metadata");
  for (const auto& [key, value] : file.metadata()) d.page.fact(key, shortened(value));
  add_file_facts(d.page, file);
  d.json["metadata"] = file.metadata();
  add_tensors(d.json, file);
  return d;
}

}  // namespace

Description describe_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  const std::string format = text_of(file.metadata(), "format");
  if (format == "dragoman") return describe_model(ModelFile(path), "a dragoman model");
  if (format == "dragoman-state") return describe_state(file);
  if (format == "dragoman-shortlist") return describe_shortlist(file);
  return describe_foreign(file);
}

Description describe_converted(const std::string& path, ConvertedModel model) {
  return describe_model(ModelFile::in_memory(path, model.config, model.vocabularies, std::move(model.weights)),
                        "a model of another program, as dragoman converts it");
}

Description describe_vocabulary(const std::string& path) {
  const Vocabulary vocabulary = Vocabulary::load(path);
  const char* kind = is_container(vocabulary.bytes()) ? "a vocabulary" : "a SentencePiece vocabulary";
  Description d{FactPage(fmt::format("{}: {}, not a model", path, kind)),
                {{"file", path}, {"kind", "vocabulary"}, {"bytes", std::filesystem::file_size(path)}}};
  d.json.update(vocabulary_json(vocabulary));
  d.page.heading("Vocabulary");
  d.page.fact("content", vocabulary_in_words(vocabulary));
  d.page.fact("size", exact_size(int64_t(vocabulary.bytes().size())));
  d.page.fact("more", fmt::format("dragoman vocab inspect -m {}", path));
  return d;
}

}  // namespace dragoman
