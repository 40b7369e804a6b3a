#include "vocab/vocabulary.h"

#include "bindings/python/src/bindings.h"

namespace dragoman::python {
namespace {

// A text or a file name as the package's Python files check and convert them.
std::string converted(const char* function, const py::object& value, const char* argument) {
  return py::module_::import("dragoman._arguments").attr(function)(value, argument).cast<std::string>();
}
std::string line_of(const py::object& line) { return converted("text_of", line, "line"); }

Vocabulary load(const py::object& path) { return Vocabulary::load(converted("file_name", path, "path")); }

std::string decode_pieces(const Vocabulary& v, const py::object& pieces) {
  const py::object texts = py::module_::import("dragoman._arguments").attr("texts_of")(pieces, "pieces", "pieces");
  return v.decode_pieces(texts.cast<std::vector<std::string>>());
}

std::string decode(const Vocabulary& v, const py::object& ids) {
  const py::object numbers = py::module_::import("dragoman._arguments").attr("whole_numbers")(ids, "ids");
  return v.decode(numbers.cast<std::vector<int32_t>>());
}

std::string piece(const Vocabulary& v, const py::object& id) {
  const py::object number = py::module_::import("dragoman._arguments").attr("whole_number")(id, "id");
  return std::string(v.piece(number.cast<int32_t>()));
}

// Its model, for pickle and copy.
py::bytes vocabulary_state(const Vocabulary& v) { return v.bytes(); }
Vocabulary vocabulary_from_state(const py::bytes& state) {
  return Vocabulary::from_bytes(state, "a pickled vocabulary");
}

}  // namespace

void add_vocabulary(py::module_& module) {
  using namespace py::literals;
  py::class_<Vocabulary>(module, "Vocabulary")
      .def(py::init(&load), "path"_a)
      .def(
          "encode", [](const Vocabulary& v, const py::object& line) { return v.encode(line_of(line)); }, "line"_a)
      .def(
          "encode_pieces", [](const Vocabulary& v, const py::object& line) { return v.encode_pieces(line_of(line)); },
          "line"_a)
      .def("decode", decode, "ids"_a)
      .def("decode_pieces", decode_pieces, "pieces"_a)
      .def("piece", piece, "id"_a)
      .def("__len__", &Vocabulary::size)
      .def_property_readonly("unk_id", &Vocabulary::unk)
      .def_property_readonly("bos_id", &Vocabulary::bos)
      .def_property_readonly("eos_id", &Vocabulary::eos)
      .def_property_readonly("pad_id", &Vocabulary::pad)
      .def(py::pickle(&vocabulary_state, &vocabulary_from_state));
}

}  // namespace dragoman::python
