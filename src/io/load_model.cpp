#include "io/load_model.h"

#include <algorithm>

#include "backend/backend.h"
#include "io/int8_weights.h"

namespace dragoman {
namespace {

// Packing rounds weights of products. What is looked up and stored in 8 bits by `dragoman quantize` is rounded here, so
// that a model gives the same translations whether it is rounded on loading or stored in 8 bits.
void round_tables(const Parameters& parameters, size_t buffer, const Tensor& values, const SafetensorsFile& file) {
  if (parameters.use_of(buffer) == Parameters::Use::product) return;
  const Tensor host = values.on_host();
  for (const auto& p : parameters.slices_of(buffer))
    if (stored_in_int8(p.name, p.value) && file.get(p.name).dtype != DType::i8)
      round_in_place(p.slice_of(host), file.path() + ": " + p.name);
  values.assign(host);
}

// Packs the weights of products straight from a file in 8 bits. False if the file does not hold all of them in 8 bits.
bool pack_as_stored(const Parameters& parameters, size_t buffer, const SafetensorsFile& file, PackedWeights& packed) {
  const auto use = parameters.use_of(buffer);
  if (use != Parameters::Use::product && use != Parameters::Use::both) return false;
  const auto parts = parameters.slices_of(buffer);
  const auto in_int8 = [&](const auto& p) { return file.get(p.name).dtype == DType::i8; };
  if (!std::ranges::all_of(parts, in_int8)) return false;
  std::vector<RoundedRows> rows;
  for (const auto& p : parts) rows.push_back(rounded_rows(file.get(p.name), file));
  parameters.pack_rounded(buffer, rows, packed);
  for (const auto& p : parts) MappedFile::let_go(file.get(p.name).bytes);
  return true;
}

}  // namespace

LoadedModel load_model(const ModelFile& file, const Backend& backend, Arena& arena, DType packed) {
  LoadedModel loaded{make_packed_model(file.config(), backend, arena, DType::f32),
                     file.vocabularies(),
                     {},
                     {},
                     file.trained(),
                     file.tensors().checksum()};
  if (backend.is_device() && is_half(packed))
    loaded.rounded = std::make_unique<RoundedWeights>(
        RoundedWeights{.type = packed, .activations = file.config().type != ModelType::s2s});
  const Parameters& parameters = loaded.model->parameters();
  file.require_weights_of(parameters);
  for (size_t i = 0; i < parameters.buffers().size(); ++i) {
    const bool done = packed == DType::i8 && pack_as_stored(parameters, i, file.tensors(), loaded.packed);
    if (done && parameters.use_of(i) == Parameters::Use::product) continue;
    const Tensor values = parameters.load_destination(i);
    file.load_buffer(parameters, i, values);
    if (packed == DType::i8) round_tables(parameters, i, values, file.tensors());
    if (done || (loaded.rounded && parameters.round_loaded(i, values, *loaded.rounded))) continue;
    parameters.pack_loaded(i, values, packed, loaded.packed);
  }
  return loaded;
}

LoadedModel load_model(const std::string& path, const Backend& backend, Arena& arena, DType packed) {
  return load_model(ModelFile(path), backend, arena, packed);
}

}  // namespace dragoman
