#!/usr/bin/env python3
"""What becomes of the files that commands write to, and of errors that nobody can read.

    outputs_test.py BINARY
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""  # from the command line
TRAIN = ("train -t s t -v vs vt --dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 256 --after 1u --cpu-threads 1 --quiet")


class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        for side, words in (("s", "red blue old small"), ("t", "rot blau alt klein")):
            lines = [" ".join(words.split()[:1 + n % 4]) for n in range(60)]
            (cls.folder / side).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for command in ("vocab train -i s -m vs --size 280", "vocab train -i t -m vt --size 280", f"{TRAIN} -m m"):
            code, error = cls.call(command)
            assert code == 0, error
        (cls.folder / "also-s").symlink_to("s")

    @classmethod
    def call(cls, command, shell=None):
        """Exit code and stderr; `shell` stands behind the command, as a user would type it."""
        words = [BINARY, *command.split()]
        if shell is not None:
            words = ["sh", "-c", f'"$@" {shell}', "sh", *words]
        done = subprocess.run(words, cwd=cls.folder, capture_output=True, check=False, timeout=120,
                              stdin=None if shell else subprocess.DEVNULL)
        return done.returncode, done.stderr.decode("utf-8")

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def test_are_none_of_what_is_read(self):
        before = self.files()
        for command, options, file in (
                ("vocab encode -m vs -i s -o s", "--output and --input", "s"),
                ("vocab encode -m vs -i s -o also-s", "--output and --input", "also-s"),
                ("vocab decode -m vs -i s -o vs", "--output and --model", "vs"),
                ("vocab train -i s -m s --size 280", "--model and --input", "s"),
                ("align -v vs vt -t s t -o s", "--output and --train-sets", "s"),
                ("align -v vs vt -t s t --shortlist vt", "--shortlist and --vocabs", "vt"),
                ("align -m m -t s t --shortlist m", "--shortlist and --model", "m"),
                (f"{TRAIN} -m new --log-json s", "--log-json and --train-sets", "s"),
                (f"{TRAIN} -m new --valid-sets s t --valid-metrics bleu --valid-translation-output t",
                 "--valid-translation-output and --train-sets", "t"),
                ("translate -m m -i s -o s", "--output and --input", "s"),
                ("translate -m m -i s -o m", "--output and --models", "m"),
                ("score -m m -t s t -o m", "--output and --model", "m"),
                ("explain -m m -i s -o m", "--output and --model", "m"),
                ("quantize -m m -o s --valid-sets s t", "--output and --valid-sets", "s")):
            code, error = self.call(command)
            self.assertEqual((code, error.splitlines()[0]),
                             (2, f"error: {options} are both {file}: what it holds would be lost"), command)
        code, error = self.call("translate -m m -o s", "< s")
        self.assertEqual(code, 2)
        self.assertIn("--output and --input are both s", error)
        self.assertEqual(self.files(), before)

    def test_may_be_the_device_that_is_read(self):
        self.assertEqual(self.call("translate -m m -i /dev/null -o /dev/null --quiet"), (0, ""))

    def test_with_a_name_that_cannot_be_are_an_error(self):
        for command in (f"{TRAIN} -m {'x' * 300}", f"quantize -m m -o {'x' * 300}"):
            code, error = self.call(command)
            self.assertEqual(code, 2, error)
            self.assertIn("File name too long", error)


class Errors(unittest.TestCase):
    def test_that_nobody_can_read_end_the_program_all_the_same(self):
        for shell in ("2>&-", "2>/dev/full"):
            done = subprocess.run(["sh", "-c", f'"$1" nothing {shell}', "sh", BINARY], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, shell)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
