#!/usr/bin/env python3
"""scripts/gpu_check where there is no GPU: with the library that runs on the host (tests/cuda_on_host) and toy sizes.

    gpu_check_test.py BINARY LIBRARY
"""
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY, LIBRARY = "", ""  # from the command line
ROOT = Path(__file__).resolve().parents[2]
HAS_PYTORCH = all(map(importlib.util.find_spec, ("torch", "sentencepiece", "safetensors")))


class GpuCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        for name in ("with", "alone"):
            (cls.folder / name).mkdir()
            shutil.copy(BINARY, cls.folder / name / "dragoman")
        shutil.copy(LIBRARY, cls.folder / "with" / "libdragoman_cuda.so")

    def check(self, *arguments):
        done = subprocess.run([sys.executable, "-B", ROOT / "scripts/gpu_check", *map(str, arguments)], check=False,
                              cwd=self.folder, capture_output=True, encoding="utf-8", timeout=600)
        return done.returncode, done.stdout, done.stderr

    def test_says_what_is_missing(self):
        for build, missing in (("alone", "there is no library for GPUs"), ("nowhere", "nowhere/dragoman is not here")):
            code, out, err = self.check(build)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(missing, err)

    def test_refuses_what_it_does_not_know(self):
        for arguments, reason in ((("with", "all"), "no stage all, expected some of tests, train, decode"),
                                  (("with", "--train", "a", "b"), "--train and --vocab belong together")):
            code, _, err = self.check(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(reason, err)

    def test_says_what_it_skipped_when_time_is_over(self):
        code, out, err = self.check("with", "tests", "train", "--try-out", "--minutes", 0)
        self.assertEqual(code, 0, out + err)
        for what in ("kernels against the reference", "compute-sanitizer memcheck", "training toy"):
            self.assertRegex(out, rf"{what} +skipped: no time left")
        self.assertIn("decode                                   skipped: not asked for", out)
        self.assertIn("the host, in place of a GPU", out)

    def assert_measured(self, python, peer):
        code, out, err = self.check("with", "train", "decode", "--try-out", "--python", python)
        self.assertEqual(code, 0, out + err)
        for what, setting in (("training toy", "16 tokens"), ("decoding toy, beam 1", ""), ("decoding toy, beam 4", "")):
            self.assertRegex(out, rf"{what}, target tokens/s\n    dragoman   [\d,.]+ \({setting}.*\)\n    PyTorch    {peer}")
        self.assertIn("tests                                    skipped: not asked for", out)
        self.assertRegex(out, r"training base, MFU, % +at least +25  not measured")
        return out

    def test_measures_without_pytorch(self):
        self.assertIn("PyTorch: not found: no program /no/such/python", self.assert_measured("/no/such/python", "–"))

    @unittest.skipUnless(HAS_PYTORCH, "this Python has no torch, sentencepiece, safetensors")
    def test_measures_beside_pytorch(self):
        out = self.assert_measured(sys.executable, r"[\d,.]+ \(")
        self.assertEqual(len(re.findall(r"best : best  [\d.]+\n", out)), 5, out)


if __name__ == "__main__":
    LIBRARY = str(Path(sys.argv.pop(2)).resolve())
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
