#!/usr/bin/env python3
"""A run that is killed at any change of a file, and called again, leaves the files of one that was not.

    killed_test.py BINARY KILL_LIBRARY
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = LIBRARY = ""  # from the command line
RUN = ("train -t s t -v v v --valid-sets s t --dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 16 --enc-depth 1 "
       "--dec-depth 1 --mini-batch-words 64 --after 6u --save-freq 2u --keep-last 2 --keep-best "
       "--learn-rate 0.01 --cpu-threads 1 --quiet -m m.safetensors")


class Killed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        (cls.folder / "text").mkdir()
        for side, words in (("s", "red blue old small"), ("t", "rot blau alt klein")):
            lines = [" ".join(words.split()[:1 + n % 4]) for n in range(60)]
            (cls.folder / "text" / side).write_text("\n".join(lines) + "\n", encoding="utf-8")
        cls.call(cls.folder / "text", "vocab train -i s t -m v --size 290")

    @staticmethod
    def call(folder, command, kill_at=None):
        """Exit code; the process dies at that change of a file."""
        environment = dict(os.environ)
        if kill_at:
            environment |= {"LD_PRELOAD": LIBRARY, "KILL_AT": str(kill_at), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        done = subprocess.run([BINARY, *command.split()], cwd=folder, env=environment, capture_output=True, check=False,
                              timeout=120)
        if done.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(done.stderr.decode("utf-8"))
        return done.returncode

    def fresh(self, name):
        folder = self.folder / name
        shutil.copytree(self.folder / "text", folder)
        return folder

    @staticmethod
    def files(folder):
        """What a temporary name keeps of a killed process is nobody's file."""
        return {path.name: path.read_bytes() for path in folder.iterdir() if ".tmp" not in path.name}

    def killed_everywhere(self, options, run=RUN):
        straight = self.fresh("straight" + options)
        self.call(straight, run + options)
        expected = self.files(straight)
        for name in ("m.safetensors", "m.state.safetensors", "m.update4.safetensors", "m.update6.safetensors",
                     "m.best-cross-entropy.safetensors"):
            self.assertIn(name, expected)
        kills = 0
        while True:
            folder = self.fresh(f"broken{options}.{kills}")
            if self.call(folder, run + options, kills + 1) == 0:
                return kills
            kills += 1
            self.assertEqual(self.call(folder, run + options), 0)
            found = self.files(folder)
            found.pop("m.safetensors.lock", None)
            self.assertEqual(found.keys(), expected.keys(), f"killed at change {kills}")
            for name, content in expected.items():
                self.assertTrue(found[name] == content, f"{name}, killed at change {kills}")

    def test_at_any_write_and_rename_ends_in_the_same_bytes(self):
        self.assertGreater(self.killed_everywhere(" --valid-freq 2u"), 3 * 2 * 4, "three saves of four files")

    def test_also_where_the_model_is_an_average(self):
        self.killed_everywhere(" --valid-freq 2u --exponential-smoothing")

    def test_also_where_the_best_checkpoints_are_kept(self):
        self.killed_everywhere(" --valid-freq 1u", RUN.replace("--keep-best", "--keep-best 2"))

    def test_also_where_the_last_model_is_validated_at_the_end(self):
        self.killed_everywhere(" --valid-freq 4u")


if __name__ == "__main__":
    LIBRARY = os.path.abspath(sys.argv.pop(2))
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
