#!/usr/bin/env python3
"""scripts/distill as a user drives it, on a corner of the corpus of scripts/phrases.

    distill_test.py BINARY
"""

import lzma
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""  # from the command line
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SMALL = ("--dim-emb 32 --transformer-heads 2 --transformer-dim-ffn 64 --enc-depth 1 --dec-depth 1 --transformer-dropout 0 "
         "--mini-batch-words 512 --learn-rate 0.01 --lr-warmup 20 --after 150u --cpu-threads 1 --quiet").split()
# the pairs that a text format may trip over
HOSTILE = [("", ""), ("a ||| b ||| F0= -1 ||| -1", "a ||| b"), ("only a source", ""), ("", "only a target"),
           ("tab\there", "Tab\thier"), ("-m", "--help"), ("'; rm -r \\ $HOME \"", "…"), ("the last line", "ends without a break")]


def setUpModule():
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    Distill.folder = folder = Path(temporary.name)
    subprocess.run([sys.executable, "-B", SCRIPTS / "phrases", folder], check=True)
    for side, column in (("en", 0), ("de", 1)):
        whole = folder / f"train.{side}"
        clean = whole.read_text(encoding="utf-8").splitlines()[:300]
        whole.write_text("".join(f"{line}\n" for line in clean), encoding="utf-8")
        lines = clean[:20] + [pair[column] for pair in HOSTILE]
        (folder / f"text.{side}").write_text("\n".join(lines), encoding="utf-8")
    (folder / "packed.xz").write_bytes(lzma.compress((folder / "text.en").read_bytes()))
    (folder / "short").write_text("one line\n", encoding="utf-8")
    (folder / "empty").write_text("", encoding="utf-8")
    # Counts the calls, and refuses to translate when told to.
    counting = folder / "counting"
    counting.write_text(f'#!/bin/sh\necho "$1" >>{folder}/calls\n[ "$1" != "$REFUSED" ] || [ $(wc -l <{folder}/calls) '
                        f'-lt 6 ] || exit 2\nexec {BINARY} "$@"\n', encoding="utf-8")
    counting.chmod(0o755)
    Distill.dragoman("train", "-t", "train.en", "train.de", "-v", "v", "v", "--dim-vocabs", "700", "-m", "teacher", *SMALL)


class Distill(unittest.TestCase):
    @classmethod
    def dragoman(cls, *arguments):
        done = subprocess.run([BINARY, *arguments], cwd=cls.folder, timeout=100, check=False, capture_output=True)
        if done.returncode:
            raise AssertionError(f"{arguments}\n{done.stderr.decode()}")
        return done.stdout

    def call(self, *arguments, program=None, **environment):
        return subprocess.run([SCRIPTS / "distill", *arguments], cwd=self.folder, timeout=100, check=False,
                              capture_output=True, encoding="utf-8",
                              env=os.environ | {"DRAGOMAN": program or BINARY, "DISTILL_BLOCK_LINES": "5"} | environment)

    def distilled(self, output, *arguments, **environment):
        done = self.call(*arguments[:2], output, *arguments[2:], **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / f"{output}.parts").exists())
        return (self.folder / output).read_bytes()

    def test_each_line_has_the_nearest_of_its_translations_whatever_the_blocks(self):
        self.dragoman("translate", "-m", "teacher", "-b", "8", "--n-best", "-i", "text.en", "-o", "list", "--quiet")
        expected = self.dragoman("evaluate", "--oracle", "-r", "text.de", "-i", "list")
        self.assertEqual(expected.count(b"\n"), 20 + len(HOSTILE))
        text = ("text.en", "text.de", "-m", "teacher")
        self.assertEqual(self.distilled("blocks", *text), expected)
        self.assertEqual(self.distilled("whole", *text, DISTILL_BLOCK_LINES="20000"), expected)
        self.assertEqual(self.distilled("of packed text", "packed.xz", *text[1:]), expected)
        self.assertEqual(self.distilled("by an ensemble", *text, "teacher"), expected)

    def test_options_of_translate_are_passed_on(self):
        self.dragoman("translate", "-m", "teacher", "-b", "1", "-i", "text.en", "-o", "greedy", "--quiet")
        self.assertEqual(self.distilled("narrow", "text.en", "text.de", "-m", "teacher", "-b", "1"),
                         (self.folder / "greedy").read_bytes())

    def test_the_same_call_resumes_where_one_was_stopped(self):
        call = ("text.en", "text.de", "stopped", "-m", "teacher")
        done = self.call(*call, program=self.folder / "counting", REFUSED="translate")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.folder / "stopped").exists())
        other = self.call(*call, "-b", "4")
        self.assertEqual(other.returncode, 2)
        self.assertIn("begun with other files or options", other.stderr)
        (self.folder / "calls").unlink()
        done = self.call(*call, program=self.folder / "counting", REFUSED="none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess((self.folder / "calls").read_text(encoding="utf-8").count("translate"), 6)
        self.assertEqual((self.folder / "stopped").read_bytes(), self.distilled("at once", *call[:2], *call[3:]))
        again = self.call(*call)
        self.assertEqual((again.returncode, again.stdout), (0, "stopped exists already; delete it to make it again\n"))

    def test_a_call_that_could_not_begin_need_not_be_cleaned_up(self):
        for source, teacher in (("text.en", "no teacher"), ("packed.xz", "no teacher either")):
            done = self.call(source, "text.de", "corrected", "-m", teacher)
            self.assertEqual(done.returncode, 2)
            self.assertIn(teacher, done.stderr)
        self.assertEqual(self.distilled("corrected", "text.en", "text.de", "-m", "teacher"),
                         self.distilled("right at once", "text.en", "text.de", "-m", "teacher"))

    def test_what_cannot_be_is_said_and_leaves_no_output(self):
        for source, target, message in (("text.en", "short", "text.en has 28 lines, short has 1"),
                                        ("empty", "empty", "empty has no lines"), ("nowhere", "short", "nowhere is not a file"),
                                        ("text.en", "text.de", "none")):
            done = self.call(source, target, f"out.{source}.{target}", "-m",
                             "none" if message == "none" else "teacher")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertFalse((self.folder / f"out.{source}.{target}").exists())
        self.assertIn("usage", self.call("text.en").stderr)
        for program in ("/nowhere/dragoman", "nothing-like-this"):  # not another one in its place
            done = self.call("text.en", "text.de", "out", "-m", "teacher", program=program)
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (2, f"error: {program} is not a program"))
            self.assertFalse((self.folder / "out.parts").exists())

    def test_a_student_learns_from_it(self):
        self.distilled("student text", "train.en", "train.de", "-m", "teacher", "-b", "2", DISTILL_BLOCK_LINES="100")
        self.dragoman("train", "-t", "train.en", "student text", "-v", "v", "v", "-m", "student", *SMALL)
        self.assertTrue((self.folder / "student").exists())


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
