#!/usr/bin/env python3
"""`cmake --install` as a program that uses the library sees it: the examples are built from the installed tree, once with
find_package and once with pkg-config, and translate as the installed command does, on the CPU and with the library for
GPUs that runs on the host (tests/cuda_on_host).

    install_test.py BUILD_FOLDER CUDA_ON_HOST CMAKE COMPILER C_COMPILER
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD, CUDA_ON_HOST, CMAKE, COMPILER, C_COMPILER = "", "", "", "", ""  # from the command line
SENTENCES = "".join(f"the {a} {b} is {c}\n" for a in ("red", "blue") for b in ("house", "book", "car") for c in ("new", "old"))
TRAIN = ("train -t s s -v v v -m m.safetensors --after 3u --dim-emb 16 --transformer-dim-ffn 16 --transformer-heads 2 "
         "--enc-depth 1 --dec-depth 1 --cpu-threads 1 --quiet")
INTERNAL = re.compile(r"/(fmt|spdlog|hwy|nlohmann|boost)/")
# Demangled names: the C API, of the namespace dragoman, whatever they are (vtable for …), and how its types are formatted.
EXPORTED = re.compile(r"((vtable|VTT|typeinfo|typeinfo name|guard variable|TLS .*function) for )?dragoman::"
                      r"|fmt::\w+::formatter<dragoman::|DRAGOMAN_0$|dragoman_[a-z_]+(@@DRAGOMAN_0)?$")


def run(*command, expect=0, **more):
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, encoding="utf-8",
                          timeout=200, **more)
    if done.returncode != expect:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        installed = cls.folder / "first"
        run(CMAKE, "--install", BUILD, "--prefix", installed)
        cls.prefix = installed.rename(cls.folder / "moved")  # all of it is found from where it lies
        cls.libraries = next(cls.prefix.rglob("libdragoman.so.0")).parent
        cls.dragoman = cls.prefix / "bin/dragoman"
        (cls.folder / "s").write_text(SENTENCES, encoding="utf-8")
        for command in ("vocab train --input s --model v --size 300", TRAIN):
            run(cls.dragoman, *command.split(), cwd=cls.folder)
        cls.expected = run(cls.dragoman, "translate", "-m", "m.safetensors", "--quiet", cwd=cls.folder, input=SENTENCES).stdout

    def translate(self, program, *arguments, expect=0, environment=None):
        return run(program, *arguments, cwd=self.folder, input=SENTENCES, expect=expect,
                   env=os.environ | (environment or {}))

    def build_with_cmake(self):
        run(CMAKE, "-S", ROOT / "examples", "-B", self.folder / "cmake", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_C_COMPILER={C_COMPILER}")
        run(CMAKE, "--build", self.folder / "cmake")
        return self.folder / "cmake/translate"

    def check_program(self, program, environment=None):
        self.assertEqual(self.translate(program, "m.safetensors", environment=environment).stdout, self.expected)
        long = "a" + " " * 70_000 + "house\n"  # more than a buffer of 64 KiB
        done = run(program, "m.safetensors", cwd=self.folder, input=long, env=os.environ | (environment or {}))
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertIn("error: none: ", self.translate(program, "none", expect=2, environment=environment).stderr)

    def check_training(self, program, environment=None):
        done = run(program, "s", "s", "v", f"{program.parent.name}.safetensors", cwd=self.folder,
                   env=os.environ | (environment or {}))
        self.assertRegex(done.stdout, r"^3 updates: cost [\d.]+\nthe model has had 3 updates\n$")
        done = run(self.dragoman, "translate", "-m", f"{program.parent.name}.safetensors", cwd=self.folder, input=SENTENCES)
        self.assertEqual(done.stdout.count("\n"), SENTENCES.count("\n"))
        done = run(program, "none", "s", "v", "new", cwd=self.folder, expect=2, env=os.environ | (environment or {}))
        self.assertIn("error: none: ", done.stderr)

    def test_has_what_belongs_to_an_installation(self):
        for file in ("bin/dragoman", "include/dragoman/engine.h", "share/man/man1/dragoman.1",
                     "share/bash-completion/completions/dragoman"):
            self.assertTrue((self.prefix / file).is_file(), file)
        self.assertEqual((self.libraries / "libdragoman.so").resolve(), (self.libraries / "libdragoman.so.0").resolve())

    def test_the_server_of_systemd_reads_and_writes_where_its_page_says(self):
        unit = self.prefix / "lib/systemd/system/dragoman.service"
        lines = [line for line in unit.read_text(encoding="utf-8").splitlines() if "=" in line and not line.startswith("#")]
        settings = dict(line.split("=", 1) for line in lines)
        program, command, option, config = settings["ExecStart"].split()
        self.assertTrue((self.prefix / "bin" / program).is_file(), program)
        self.assertEqual((command, option), ("serve", "--config"))
        page = (ROOT / "docs/serve.md").read_text(encoding="utf-8")
        for path in (config, settings["WorkingDirectory"], f"/var/log/{settings['LogsDirectory']}/",
                     f"/run/credentials/{unit.name}/"):
            self.assertIn(path, page)
        self.assertEqual(settings["WorkingDirectory"], f"/var/lib/{settings['StateDirectory']}")
        self.assertIn(f"\nsystemctl enable --now {unit.stem}\n", page)
        for hidden in ("PrivateDevices=yes", "ProcSubset=pid"):  # what the page changes for GPUs
            self.assertIn(hidden, lines)
            self.assertIn(f"\n{hidden.split('=')[0]}=", page)
        if shutil.which("systemd-analyze"):
            copy = self.folder / unit.name  # with the path of this installation
            copy.write_text(re.sub(r"(?m)^ExecStart=", f"ExecStart={self.prefix}/bin/", unit.read_text(encoding="utf-8")))
            self.assertEqual(run("systemd-analyze", "verify", "--man=no", copy).stderr, "")

    def test_each_public_header_compiles_alone_and_brings_no_other_library(self):
        headers = sorted((self.prefix / "include/dragoman").iterdir())
        self.assertEqual([h.name for h in headers], sorted(h.name for h in (ROOT / "include/dragoman").iterdir()))
        for header in headers:
            alone = (COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", self.prefix / "include", "-x", "c++")
            source = f"#include <dragoman/{header.name}>\nint main() {{}}\n"
            run(*alone, "-fsyntax-only", "-", input=source)
            files = run(*alone, "-M", "-", input=source).stdout.split()
            self.assertIn(str(header), files)
            self.assertEqual([file for file in files if INTERNAL.search(file)], [])

    def test_options_may_be_named_one_by_one_without_warnings(self):
        headers = {h.name: h.read_text(encoding="utf-8") for h in (self.prefix / "include/dragoman").iterdir()
                   if h.name != "dragoman.h"}
        structs = {name: re.findall(r"[\w>*,] (\w+)(?= =|;)", re.sub("//.*", "", body)) for name, body in re.findall(
            r"(?ms)^struct (\w+Options|TranslationRequest|EvaluatedText|NamedOption) \{\n(.*?)^\};", "\n".join(headers.values()))}
        self.assertEqual(len(structs), 11, structs)
        self.assertEqual(structs["ConvertOptions"], ["input", "output", "format", "vocabs", "source_lang", "target_lang"])
        source = "".join(f"#include <dragoman/{name}>\n" for name in headers) + "int main() {\n" + "".join(
            f"  dragoman::{name}{{.{member} = {{}}}};\n" for name, members in structs.items() for member in members) + "}\n"
        run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wno-unused-value", "-Werror", "-I",
            self.prefix / "include", "-x", "c++", "-fsyntax-only", "-", input=source)

    def test_the_header_for_c_is_c99_alone(self):
        run(C_COMPILER, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", self.prefix / "include", "-x", "c",
            "-fsyntax-only", "-", input="#include <dragoman/dragoman.h>\nint main(void) { return 0; }\n")

    def test_programs_built_with_find_package_translate_as_the_command_does(self):
        program = self.build_with_cmake()
        self.check_program(program)
        self.check_program(program.with_name("translate_c"))
        self.check_training(program.with_name("train"))

    def test_programs_built_with_pkg_config_translate_as_the_command_does(self):
        environment = {"PKG_CONFIG_PATH": str(self.libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(self.libraries)}
        flags = run("pkg-config", "--cflags", "--libs", "dragoman >= 0.1", env=os.environ | environment).stdout.split()
        program = self.folder / "translate"
        # Errors are caught also by a program that hides all of its own symbols.
        run(COMPILER, "-std=c++20", "-fvisibility=hidden", ROOT / "examples/translate.cpp", "-o", program, *flags)
        self.check_program(program, environment)
        run(C_COMPILER, "-std=c99", "-pedantic", "-Werror", ROOT / "examples/translate.c", "-o", program, *flags)
        self.check_program(program, environment)
        run(COMPILER, "-std=c++20", "-fvisibility=hidden", ROOT / "examples/train.cpp", "-o", program, *flags)
        self.check_training(program, environment)

    def test_pkg_config_knows_libraries_and_headers_outside_of_the_prefix(self):
        lib, include = self.folder / "x/lib", self.folder / "y/include"
        run(CMAKE, "-S", ROOT, "-B", self.folder / "elsewhere", f"-DCMAKE_INSTALL_LIBDIR={lib}",
            f"-DCMAKE_INSTALL_INCLUDEDIR={include}", f"-DCMAKE_INSTALL_PREFIX={self.folder}/prefix",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", *(f"-DDRAGOMAN_{part}=OFF" for part in ("TESTS", "BENCH", "CUDA", "PYTHON")))
        (lib / "pkgconfig").mkdir(parents=True)
        shutil.copy(self.folder / "elsewhere/packaging/dragoman.pc", lib / "pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "dragoman",
                    env=os.environ | {"PKG_CONFIG_PATH": str(lib / "pkgconfig")}).stdout.split()
        self.assertEqual([Path(flag[2:]).resolve() for flag in flags[:2]], [include.resolve(), lib.resolve()])

    def test_a_library_for_gpus_is_found_where_the_library_lies(self):
        program, module = self.build_with_cmake(), self.libraries / "dragoman/libdragoman_cuda.so"
        if module.exists():
            # On a machine without a GPU or its driver it is found and says so.
            done = subprocess.run([program, "m.safetensors", "cuda:0"], cwd=self.folder, input=SENTENCES, check=False,
                                  capture_output=True, encoding="utf-8", timeout=200)
            self.assertNotIn("there is no library for GPUs", done.stderr)
            if done.returncode:
                self.assertRegex(done.stderr, "libcuda|CUDA|no GPU")
        module.parent.mkdir(exist_ok=True)
        shutil.copy(CUDA_ON_HOST, module)
        self.assertEqual(self.translate(program, "m.safetensors", "cuda:0").stdout, self.expected)
        self.assertIn("has 1", self.translate(program, "m.safetensors", "cuda:1", expect=2).stderr)
        self.assertIn("in place of a GPU", run(self.dragoman, "inspect", "--devices").stdout)

    def test_the_library_exports_its_own_namespace_alone(self):
        names = run("nm", "-DC", "--defined-only", self.libraries / "libdragoman.so.0").stdout.splitlines()
        names = [line.split(" ", 2)[2] for line in names]
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if not EXPORTED.match(name)], [])


if __name__ == "__main__":
    BUILD, CUDA_ON_HOST, CMAKE, COMPILER, C_COMPILER = sys.argv[1:6]
    del sys.argv[1:6]
    unittest.main()
