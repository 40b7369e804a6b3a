#!/usr/bin/env python3
"""scripts/gpu_bundle where there is no GPU: with the library that runs on the host (tests/cuda_on_host) and toy sizes.

    gpu_bundle_test.py BINARY LIBRARY TEST_OPS
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = []  # from the command line: the program, the library, the test of ops


class GpuBundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        (cls.folder / "build/tests/ops").mkdir(parents=True)
        for path, name in zip(BUILT, ("dragoman", "libdragoman_cuda.so", "tests/ops/test_ops")):
            shutil.copy(path, cls.folder / "build" / name)
        shutil.copy(Path(BUILT[0]).parent / "libdragoman.so.0", cls.folder / "build")
        cls.made = cls.bundle("build", "-o", "gpu.tar.xz", "--try-out", "--compression", "0", "--most", "400")
        subprocess.run(["tar", "-C", cls.folder, "-xf", cls.folder / "gpu.tar.xz"], check=True)
        shutil.rmtree(cls.folder / "build")

    @classmethod
    def bundle(cls, *arguments):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts/gpu_bundle", *map(str, arguments)], check=False,
                              cwd=cls.folder, capture_output=True, encoding="utf-8", timeout=300)

    def test_has_what_programs_need_and_nothing_of_the_machines_own(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        here = self.folder / "dragoman-gpu"
        names = {path.name for path in (here / "lib").rglob("*.so*")}
        self.assertTrue(any(name.startswith("libsentencepiece.so") for name in names), names)
        self.assertNotIn("libdragoman.so.0", names)  # it looks for the library for GPUs where it lies itself
        self.assertTrue((here / "build/release/libdragoman.so.0").is_file())
        self.assertIn("libstdc++.so.6", {path.name for path in (here / "lib/base").iterdir()})
        for name in ("libc.so.6", "libm.so.6", "libcuda.so.1", "libcublasLt.so.13"):
            self.assertNotIn(name, names)

    def test_a_call_leaves_what_it_has_found(self):
        environment = {**os.environ, "PYTHON": sys.executable}
        done = subprocess.run([self.folder / "dragoman-gpu/check", "first", "out", "--try-out"], check=False,
                              cwd=self.folder, env=environment, capture_output=True, encoding="utf-8", timeout=500)
        found = json.loads((self.folder / "out/first.json").read_text(encoding="utf-8"))
        outcomes = {one["what"]: one["outcome"] for one in found["outcomes"]}
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the host, in place of a GPU", found["facts"]["device"])
        self.assertEqual(outcomes["runs against the CPU, and resuming"], "ok", done.stdout + done.stderr)
        self.assertEqual(outcomes["translations against the CPU's"], "ok")
        measured = {(figure["what"], figure["measure"]) for figure in found["figures"]}
        for what in ("training toy", "decoding toy, beam 4"):
            self.assertIn((what, "target tokens/s"), measured)

    def test_says_which_calls_there_are(self):
        done = subprocess.run([self.folder / "dragoman-gpu/check", "fourth", "out"], check=False, cwd=self.folder,
                              capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 2)
        self.assertIn("check first|second|third FOLDER", done.stderr)

    def test_packs_the_text_that_is_named(self):
        build = self.folder / "tiny"
        for name in ("dragoman", "libdragoman.so.0", "libdragoman_cuda.so", "tests/ops/test_ops"):
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy("/bin/true", build / name)
        (self.folder / "source").write_text("one\ntwo\n", encoding="utf-8")
        (self.folder / "target.gz").write_bytes(gzip.compress(b"eins\nzwei\n"))
        (self.folder / "vocabulary").write_text("one two eins zwei", encoding="utf-8")
        call = ("tiny", "-o", "text.tar.xz", "--compression", "0", "--train", "source", "target.gz", "--vocab")
        done = self.bundle(*call, "vocabulary")
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = {"source": b"one\ntwo\n", "target": b"eins\nzwei\n", "vocabulary": b"one two eins zwei"}
        for name, text in texts.items():
            command = ["tar", "-xOf", self.folder / "text.tar.xz", f"dragoman-gpu/text/{name}"]
            packed = subprocess.run(command, check=True, capture_output=True).stdout
            self.assertEqual(packed, text)
        done = self.bundle(*call, "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere is not a file, expected text for --train", done.stderr)

    def test_says_what_is_not_built(self):
        done = self.bundle("nowhere", "-o", "none.tar.xz")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere/dragoman is missing", done.stderr)


if __name__ == "__main__":
    BUILT = [str(Path(path).resolve()) for path in sys.argv[1:4]]
    del sys.argv[1:4]
    unittest.main()
