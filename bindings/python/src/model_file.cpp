#include "io/model_file.h"

#include "bindings/python/src/bindings.h"
#include "interop/open_model.h"
#include "io/config_json.h"

namespace dragoman::python {
namespace {

using SharedFile = std::shared_ptr<ModelFile>;

// A tensor's bytes in the file, which is mapped and stays open as long as a view of it exists. numpy makes an array
// of it by Python's buffer protocol, so that no version of its headers is compiled in.
struct FileTensor {
  SharedFile file;
  const TensorEntry* entry;
};

py::buffer_info buffer_of(const FileTensor& tensor) {
  const auto bytes = tensor.entry->bytes;
  return {reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data())), py::ssize_t(bytes.size()), true};
}

std::vector<FileTensor> weights(const SharedFile& file) {
  std::vector<FileTensor> weights;
  for (const TensorEntry& tensor : file->tensors().tensors())
    if (!tensor.name.starts_with("vocabulary.")) weights.push_back({file, &tensor});
  return weights;
}

}  // namespace

void add_model_file(py::module_& module) {
  using namespace py::literals;
  py::class_<FileTensor>(module, "FileTensor", py::buffer_protocol())
      .def_buffer(buffer_of)
      .def_property_readonly("name", [](const FileTensor& t) { return t.entry->name; })
      .def_property_readonly("dtype", [](const FileTensor& t) { return std::string(name_of(t.entry->dtype)); })
      .def_property_readonly("shape", [](const FileTensor& t) { return t.entry->shape; });
  py::class_<ModelFile, SharedFile>(module, "ModelFile")
      .def(py::init([](const std::string& path, std::vector<std::string> vocabs, std::string source_lang,
                       std::string target_lang) {
             const WithoutLock unlocked;
             return std::make_shared<ModelFile>(open_model(
                 path, {.vocabs = std::move(vocabs), .languages = {std::move(source_lang), std::move(target_lang)}}));
           }),
           "path"_a, py::kw_only(), "vocabs"_a, "source_lang"_a, "target_lang"_a)
      .def_property_readonly("config_json", [](const ModelFile& file) { return to_json(file.config()); })
      .def_property_readonly("source_vocabulary", [](const ModelFile& file) { return file.vocabularies().source; })
      .def_property_readonly("target_vocabulary", [](const ModelFile& file) { return file.vocabularies().target; })
      .def("weights", weights);
}

}  // namespace dragoman::python
