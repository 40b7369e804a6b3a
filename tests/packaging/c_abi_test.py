#!/usr/bin/env python3
"""The C API keeps its binary interface: functions, their arguments, the layout of structs, the values of enumerations.

    c_abi_test.py C_COMPILER LIBRARY            compares with c_api.abi; skipped (exit code 77) without abidiff
    c_abi_test.py C_COMPILER LIBRARY --update   writes c_api.abi: after an addition, or with a new SOVERSION
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include/dragoman/dragoman.h"
EXPECTED = Path(__file__).with_name("c_api.abi")
# Neither paths nor lines, which change without the interface, nor what else is linked.
WRITE = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--out-file", EXPECTED]


def compile_types(folder, compiler, library):
    """A library in C with a variable for each function and enumeration of the header, of its type: so they are described
    without any C++. Linking it fails if LIBRARY lacks one of the functions."""
    header = HEADER.read_text(encoding="utf-8")
    functions = sorted(set(re.findall(r"\b(dragoman_\w+)\(", header)))
    source, types = folder / "c_api.c", folder / "libc_api.so"
    source.write_text("#include <dragoman/dragoman.h>\n" + "".join(
        f"__typeof__({name})* const type_of_{name} = {name};\n" for name in functions) + "".join(
        f"enum {name} enum_{name};\n" for name in re.findall(r"^enum (dragoman_\w+) {", header, re.MULTILINE)), encoding="utf-8")
    subprocess.run([compiler, "-std=gnu99", "-g", "-shared", "-fPIC", "-Wl,-z,defs", "-I", ROOT / "include", source, library,
                    f"-Wl,-rpath-link,{library.parent}", "-o", types], check=True)
    return types


def main():
    compiler, library, update = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] == ["--update"]
    if not shutil.which("abidiff"):
        print("skipped: there is no abidiff (Debian and Ubuntu: abigail-tools)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        types = compile_types(Path(folder), compiler, library)
        if update:
            return subprocess.run([*WRITE, types], check=False).returncode
        done = subprocess.run(["abidiff", "--no-show-locs", "--no-architecture", EXPECTED, types], check=False,
                              capture_output=True, encoding="utf-8")
    if done.returncode:
        print(done.stdout + done.stderr)
        print("The binary interface of the C API has changed. Programs that were compiled before must still run: only\n"
              "additions are allowed, which --update records, unless the library gets another SOVERSION.")
    return done.returncode


sys.exit(main())
