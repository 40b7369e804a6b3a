#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dragoman/error.h"
#include "interop/converted_model.h"
#include "interop/languages.h"

namespace dragoman {

/// Settings that another program's model may not contain.
struct OpenOptions {
  std::vector<std::string> vocabs =
      {};  // of another program's model, if no file beside it names them; Hugging Face's has
  Languages languages = {};
};

/// Reads another program's model (docs/existing_models.md). nullopt: the file is not a model of a known program.
/// Error if the weights or the vocabularies are not of the configuration; no weight is converted for that.
std::optional<ConvertedModel> read_foreign_model(const std::string& path, const OpenOptions& options = {});

/// Opens a dragoman model, or another program's model, which is converted in memory. The converted model takes as much
/// memory as its file would take on disk, for the lifetime of the ModelFile. A dragoman model contains its
/// vocabularies, so `vocabs` is ignored.
ModelFile open_model(const std::string& path, const OpenOptions& options = {});

/// Error for what people name in place of the folder or the file that is the model: a folder, an ONNX model.
void refuse_other_levels(const std::string& path);

/// To be called where `error`, about the file `path`, was caught: throws it again, with a hint to give the folder if
/// the file may be a part of another program's model.
[[noreturn]] void throw_for_part(const Error& error, const std::string& path);

/// Warns of 8-bit weights, for those who make a float32 model from them.
void warn_if_rounded(const ModelFile& file, const std::string& path);

/// What is known of a model before any weight of another program's model is converted.
struct ModelOutline {
  std::string path;
  Vocabularies vocabularies;
  std::map<std::string, std::vector<int64_t>> shapes;  // of all tensors of the model file, by name
};
ModelOutline outline_of(const ModelFile& file);
/// Of a model that open_model would open.
ModelOutline outline_of(const std::string& path, const OpenOptions& options = {});

/// The size of the file; for a model that was converted in memory, the size of its tensors.
int64_t stored_bytes(const SafetensorsFile& file);

}  // namespace dragoman
