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
  py::options options;
  options.disable_function_signatures();  // which would show what the functions check themselves as `object`
  py::class_<Vocabulary>(module, "Vocabulary",
                         "Converts text to ids of pieces and back.\n\n"
                         "``path`` is a SentencePiece model, or a list of another program.")
      .def(py::init(&load), "path"_a, "__init__(path: str | bytes | os.PathLike)\n\nLoads the file.")
      .def(
          "encode", [](const Vocabulary& v, const py::object& line) { return v.encode(line_of(line)); }, "line"_a,
          "encode(line: str) -> list[int]\n\nThe ids of a line's pieces.")
      .def(
          "encode_pieces", [](const Vocabulary& v, const py::object& line) { return v.encode_pieces(line_of(line)); },
          "line"_a, "encode_pieces(line: str) -> list[str]\n\nThe pieces of a line.")
      .def("decode", decode, "ids"_a, "decode(ids: Iterable[int]) -> str\n\nThe text of pieces with these ids.")
      .def("decode_pieces", decode_pieces, "pieces"_a,
           "decode_pieces(pieces: Iterable[str]) -> str\n\nThe text of these pieces.")
      .def("piece", piece, "id"_a, "piece(id: int) -> str\n\nThe piece with this id.")
      .def("__len__", &Vocabulary::size)
      .def_property_readonly("unk_id", &Vocabulary::unk, "Of the unknown piece.")
      .def_property_readonly("bos_id", &Vocabulary::bos, "Of the beginning of a sentence; -1 if there is none.")
      .def_property_readonly("eos_id", &Vocabulary::eos, "Of the end of a sentence.")
      .def_property_readonly("pad_id", &Vocabulary::pad, "Of padding; -1 if there is none.")
      .def(py::pickle(&vocabulary_state, &vocabulary_from_state));
}

}  // namespace dragoman::python
