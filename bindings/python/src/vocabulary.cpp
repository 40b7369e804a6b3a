#include "vocab/vocabulary.h"

#include "bindings/python/src/bindings.h"

namespace dragoman::python {

void add_vocabulary(py::module_& module) {
  using namespace py::literals;
  py::class_<Vocabulary>(module, "Vocabulary")
      .def(py::init(&Vocabulary::load), "path"_a)
      .def(
          "encode", [](const Vocabulary& v, const std::string& line) { return v.encode(line); }, "line"_a)
      .def(
          "encode_pieces", [](const Vocabulary& v, const std::string& line) { return v.encode_pieces(line); }, "line"_a)
      .def(
          "decode", [](const Vocabulary& v, const std::vector<int32_t>& ids) { return v.decode(ids); }, "ids"_a)
      .def("decode_pieces", &Vocabulary::decode_pieces, "pieces"_a)
      .def("piece", &Vocabulary::piece, "id"_a)
      .def("__len__", &Vocabulary::size)
      .def_property_readonly("unk_id", &Vocabulary::unk)
      .def_property_readonly("bos_id", &Vocabulary::bos)
      .def_property_readonly("eos_id", &Vocabulary::eos)
      .def_property_readonly("pad_id", &Vocabulary::pad);
}

}  // namespace dragoman::python
