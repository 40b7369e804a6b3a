#!/usr/bin/env python3
"""The rules of docs/architecture.md that a program can check: who may include whom, how long things may be."""

import posixpath
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A folder includes itself and those before it; vocab includes base alone.
FOLDERS = ("base tensor backend comm autodiff ops vocab nn model optim text data metrics io interop explain align decode score runlog pages "
         "train options engine capi serve bindings cli").split()
ALLOWED = {folder: set(FOLDERS[: i + 1]) for i, folder in enumerate(FOLDERS)} | {"vocab": {"base", "vocab"}}
# Public headers (include/dragoman) belong to the engine, but for these. They include each other alone.
PUBLIC_FOLDERS = {"dragoman/error.h": "base", "dragoman/log_sink.h": "base", "dragoman/evaluate.h": "metrics",
                  "dragoman/search_rule.h": "model", "dragoman/search_options.h": "decode", "dragoman/linked_words.h": "decode",
                  "dragoman/dragoman.h": "capi",
                  "dragoman/run_event.h": "runlog", "dragoman/run_control.h": "train", "dragoman/named_option.h": "options"}

SOURCE_FOLDERS = ("include", "src", "vocab", "bindings", "cli", "tests")
FILE_LINES, FUNCTION_LINES, KERNEL_LINES = 400, 60, 120
OPTION_TABLES = re.compile(r"(cli|src/options)/\w+_flags\.cpp|src/model/\w+_fields\.cpp")  # functions that return a table of options: data, as long as it is
# Where files may be opened to write: one place for all output, the lock of a model, closed standard streams.
WRITERS = {"src/base/file.cpp", "src/train/destination.cpp", "cli/main.cpp"}
FUNCTION_MACROS = {"DRAGOMAN_CUDA_CHECK"}
IN_PLACE_OF_LIBRARY = {"tests/capi/fake_translator.cpp"}  # not linked with the classes that it imitates
CLASS = re.compile(r"(?:struct|class|enum class)(?: alignas\(.*\))? (\w+)(?: final)?(?: :.*)?(?: \{.*)?$")
NOT_FUNCTIONS = re.compile(r"(namespace|class|struct|enum|union|extern)\b")


def folder_of(path):
    """src/nn/linear.h -> nn, vocab/encode.h -> vocab, None outside the folders."""
    parts = path.split("/")
    folder = parts[1] if parts[0] == "src" else parts[0]
    return folder if folder in FOLDERS else None


def bad_includes(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        included = re.match(r'\s*#\s*include "([^"]+)"', line)
        if not included:
            continue
        target = included[1].split("/")[0]
        if path.startswith("include/") and target != "dragoman":
            yield f'{path}:{number}: a public header may not include "{included[1]}"'
        if not folder_of(path):
            continue
        if target == "dragoman":
            target = PUBLIC_FOLDERS.get(included[1], "engine")
        if target not in FOLDERS:
            yield f'{path}:{number}: "{included[1]}" is not written from src/ or the root'
        elif target not in ALLOWED[folder_of(path)]:
            yield f'{path}:{number}: {folder_of(path)} may not include "{included[1]}"'


def functions(text, indent):
    """(first line, number of lines) of the functions that start at this indentation in clang-formatted code.

    At indentation 2 these are the methods inside a class; the blocks of a function count too, but are shorter than it.
    """
    margin, first, statement, inside = " " * indent, 0, "", False
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            if line.startswith(margin + "}"):
                yield first, number - first + 1
                inside = False
            continue
        starts = re.match(margin + r"[^\s#/}]", line)
        if not statement and not starts:
            continue
        first, statement = (first if statement else number), statement + line.strip() + " "
        inside = line.endswith("{") and "(" in statement and not NOT_FUNCTIONS.match(statement)
        if inside or not line or line[-1] in ";{}:":
            statement = ""


def long_things(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{path}: {lines} lines, at most {FILE_LINES}"
    if OPTION_TABLES.fullmatch(path):
        return
    limit = KERNEL_LINES if path.startswith("src/backend/") else FUNCTION_LINES
    for indent in (0, 2):
        for first, length in functions(text, indent):
            if length > limit:
                yield f"{path}:{first}: a function of {length} lines, at most {limit}"


def bad_preprocessing(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*#\s*(el)?if.*(CUDA|MPI|NCCL)", line):
            yield f"{path}:{number}: no condition on CUDA or MPI: CMake chooses the files"
        macro = re.match(r"\s*#\s*define (\w+)\(", line)
        if macro and macro[1] not in FUNCTION_MACROS and not path.startswith("tests/"):
            yield f"{path}:{number}: {macro[1]} is a function macro; write a function"


def loose_ends(path, text):
    if path.endswith(".h") and not path.endswith("-inl.h") and "#pragma once" not in text:  # -inl.h: Highway
        yield f"{path}: no #pragma once"
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line):
            yield f"{path}:{number}: a TODO names its issue, TODO(#12), or does not exist"


def stray_writers(path, text):
    if path.startswith("tests/") or path in WRITERS:
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"std::o?fstream\b|std::cout\b|\b(fopen|freopen|fwrite|creat)\(|\bO_(WRONLY|CREAT)\b", line)
        if found:
            yield f"{path}:{number}: {found[0]}: files are written by base/file.h, which tells every failure"


def endings(path, text):
    """A library leaves it to its program to end."""
    if path.split("/")[0] not in ("src", "vocab", "include"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r"\b(_?_?exit|_Exit|quick_exit|abort|terminate)\(", line)
        if found:
            yield f"{path}:{number}: {found[1]}: the library ends no program; throw Error"


def class_names(text):
    """(namespace, name) of the classes that clang-formatted code defines outside unnamed namespaces."""
    namespaces = []
    for line in text.splitlines():
        if opened := re.match(r"(?:inline )?namespace ?([\w:]*) \{$", line):
            namespaces.append(opened[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif namespaces and all(namespaces) and (found := CLASS.match(line)):
            yield "::".join(namespaces), found[1]


def shared_class_names(files):
    """Two classes of one name in a namespace break C++'s rule of one definition, which no compiler checks."""
    seen = {}
    for path, text in files:
        for name in set(class_names(text)):
            seen.setdefault(name, []).append(path)
    for (namespace, name), paths in seen.items():
        if len(paths) > 1:
            yield f"{namespace}::{name} is defined in {' and '.join(paths)}"


def listed(folder, text):
    """The sources that the CMakeLists.txt of a folder names; ${name} stands for each of the words of `foreach(name ...)`."""
    words = {name: values.split() for name, values in re.findall(r"foreach\((\w+) ([^)]*)\)", text)}
    for source in re.findall(r"[^\s()\"]+\.(?:cpp|cu)\b", text):
        variable = re.match(r"\$\{(\w+)\}", source)
        for name in [source.replace(variable[0], word) for word in words.get(variable[1], [])] if variable else [source]:
            yield posixpath.normpath(posixpath.join(folder, name))


def sources():
    for top in SOURCE_FOLDERS:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh"):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


class Tree(unittest.TestCase):
    def check(self, rule):
        broken = [message for path, text in sources() for message in rule(path, text)]
        self.assertEqual(broken, [], "\n" + "\n".join(broken))

    def test_folders_include_only_folders_before_them(self):
        self.check(bad_includes)

    def test_files_and_functions_are_short(self):
        self.check(long_things)

    def test_devices_are_chosen_in_two_files_and_macros_are_rare(self):
        self.check(bad_preprocessing)

    def test_headers_are_guarded_and_todos_have_issues(self):
        self.check(loose_ends)

    def test_files_are_written_in_one_place(self):
        self.check(stray_writers)

    def test_no_two_classes_share_a_name(self):
        self.assertEqual(list(shared_class_names(file for file in sources() if file[0] not in IN_PLACE_OF_LIBRARY)), [])

    def test_the_library_ends_no_program(self):
        self.check(endings)

    def test_what_git_ignores_does_not_go_into_the_image(self):
        git, docker = (set((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in (".gitignore", ".dockerignore"))
        self.assertLessEqual({line if line.startswith("/") else f"**/{line}" for line in git} | {"/.git"}, docker)

    def test_each_source_is_compiled(self):
        lists = {path for top in SOURCE_FOLDERS for path in (ROOT / top).rglob("CMakeLists.txt")}
        known = {source for path in lists
                 for source in listed(path.parent.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))}
        forgotten = [path for path, _ in sources() if path.endswith((".cpp", ".cu")) and path not in known]
        self.assertEqual(forgotten, [], "no CMakeLists.txt names these files, so they are not compiled: add them")

    def test_each_folder_of_the_tree_has_its_place_in_the_order(self):
        folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
        self.assertEqual(folders - set(FOLDERS), set())


class Rules(unittest.TestCase):
    """The rules themselves, on small examples."""

    def test_an_include_of_a_later_folder_is_found(self):
        text = '#include <vector>\n#include "base/error.h"\n#include "train/trainer.h"\n#include "linear.h"\n'
        self.assertEqual(list(bad_includes("src/nn/linear.cpp", text)),
                         ['src/nn/linear.cpp:3: nn may not include "train/trainer.h"',
                          'src/nn/linear.cpp:4: "linear.h" is not written from src/ or the root'])
        self.assertEqual(len(list(bad_includes("vocab/encode.cpp", '#include "tensor/tensor.h"\n'))), 1)
        self.assertEqual(list(bad_includes("tests/nn/linear_test.cpp", '#include "train/trainer.h"\n')), [])

    def test_public_headers_stand_alone_and_belong_to_folders(self):
        text = '#include "dragoman/error.h"\n#include "dragoman/engine.h"\n#include "base/error.h"\n'
        self.assertEqual(list(bad_includes("include/dragoman/a.h", text)),
                         ['include/dragoman/a.h:3: a public header may not include "base/error.h"'])
        self.assertEqual(list(bad_includes("src/base/a.cpp", text)),
                         ['src/base/a.cpp:2: base may not include "dragoman/engine.h"'])
        self.assertEqual(list(bad_includes("cli/a.cpp", text)), [])

    def test_functions_are_measured_from_signature_to_brace(self):
        text = ("namespace dragoman {\n\nconst int table[] = {\n    1,\n};\n\ntemplate <class T>\nint f(int a,\n"
                "      int b) {\n  if (a) {\n    return b;\n  }\n  return a;\n}\n\nstruct S {\n  int a = 0;\n"
                "  int g() const {\n    return a;\n  }\n};\n\nint h();\nint k() {\n}\n}  // namespace dragoman\n")
        self.assertEqual(list(functions(text, 0)), [(7, 8), (24, 2)])
        self.assertEqual(list(functions(text, 2)), [(10, 3), (18, 3)])  # the if, and the method

    def test_a_long_function_is_found_and_kernels_may_be_longer(self):
        text = "void f() {\n" + "  g();\n" * 70 + "}\n"
        self.assertEqual(list(long_things("src/nn/a.cpp", text)),
                         ["src/nn/a.cpp:1: a function of 72 lines, at most 60"])
        self.assertEqual(list(long_things("src/backend/cpu/a.cpp", text)), [])
        self.assertEqual(list(long_things("cli/a.cpp", "int a;\n" * 401)), ["cli/a.cpp: 401 lines, at most 400"])

    def test_a_stray_writer_is_found(self):
        text = ("#include <fstream>\nstd::ifstream in(path);\nstd::ofstream out(path);\nstd::cout << 1;\n"
                "fopen(path, mode);\nopen(path, O_WRONLY | O_CREAT);\nopen(path, O_RDONLY);\n")
        self.assertEqual([message.split(":")[1] for message in stray_writers("src/nn/a.cpp", text)],
                         ["3", "4", "5", "6"])
        self.assertEqual(list(stray_writers("src/base/file.cpp", text)), [])

    def test_a_class_with_the_name_of_another_is_found(self):
        text = ("namespace dragoman {\nnamespace {\nstruct Local {\n};\n}  // namespace\n\nclass A final : public B {\n"
                "};\nstruct C;\n\ntemplate <class T>\nstruct D {\n  struct E {};\n};\nstruct D<int> {\n};\n"
                "}  // namespace dragoman\n")
        other = "namespace dragoman {\nstruct A {};\nstruct Local {};\n}  // namespace dragoman\n"
        self.assertEqual(list(class_names(text)), [("dragoman", "A"), ("dragoman", "D")])
        self.assertEqual(list(shared_class_names([("a.h", text), ("b.h", other)])),
                         ["dragoman::A is defined in a.h and b.h"])

    def test_an_ending_is_found(self):
        text = "std::exit(2);\nabort();\nat_exit_of(f);\nstd::terminate();\n"
        self.assertEqual([message.split(":")[1] for message in endings("src/nn/a.cpp", text)], ["1", "2", "4"])
        self.assertEqual(list(endings("cli/main.cpp", text)), [])

    def test_sources_are_found_in_a_list(self):
        text = ("dragoman_test(model ../op_check/gpu.cpp a_test.cpp\n  b_test.cpp)\nforeach(reader http lines)\n"
                "  add_executable(fuzz_${reader} ${reader}_fuzz.cpp)\nendforeach()\nadd_executable(x ${src}/x.cpp)\n")
        self.assertEqual(list(listed("tests/model", text)),
                         ["tests/op_check/gpu.cpp", "tests/model/a_test.cpp", "tests/model/b_test.cpp",
                          "tests/model/http_fuzz.cpp", "tests/model/lines_fuzz.cpp"])

    def test_device_conditions_and_function_macros_are_found(self):
        text = "#ifdef DRAGOMAN_CUDA\n#endif\n#define SQUARE(x) x\n"
        for path in ("src/nn/a.cpp", "src/backend/registry.cpp"):
            self.assertEqual(len(list(bad_preprocessing(path, text))), 2)


if __name__ == "__main__":
    unittest.main()
