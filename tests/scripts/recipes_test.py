#!/usr/bin/env python3
"""Scripts that train a recipe as a user drives them, on a corner of the corpus of scripts/phrases.

    recipes_test.py BINARY
"""

import gzip
import lzma
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from small_run import SMALL

BINARY = ""  # from the command line
ROOT = Path(__file__).resolve().parents[2]


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name) / "a folder with blanks"
        cls.folder.mkdir()
        (cls.folder / "the program").symlink_to(BINARY)
        subprocess.run([sys.executable, "-B", ROOT / "scripts/phrases", cls.folder / "phrases"], check=True)
        (cls.folder / "small.yml").write_text(SMALL, encoding="utf-8")

    def corpus(self, sets, source, target):
        """A folder with corners of the phrases: training text in .xz, the source of the test in .gz, the rest plain."""
        data = Path(tempfile.mkdtemp(dir=self.folder))
        for part, name, lines in zip(("train", "dev", "test"), sets, (400, 30, 40)):
            for side, ending in (("en", source), ("de", target)):
                text = (self.folder / f"phrases/{part}.{side}").read_bytes().splitlines(keepends=True)[:lines]
                packed = {"train": (".xz", lzma.compress), "testen": (".gz", gzip.compress)}
                suffix, pack = packed.get(part, packed.get(part + side, ("", bytes)))
                file = data / f"{name}.{ending}{suffix}"
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(pack(b"".join(text)))
        return data

    def call(self, script, *arguments, **environment):
        """Files are named from the folder of the test, and so is the program."""
        environment = os.environ | {"DRAGOMAN": "./the program", "THREADS": "1", "CDPATH": ".:/"} | environment
        return subprocess.run([ROOT / "scripts" / script, *arguments], timeout=200, check=False, encoding="utf-8",
                              cwd=self.folder, capture_output=True, env=environment)

    def check(self, script, data, figures, output, **environment):
        """A run that is made twice: the second time nothing is left but to translate."""
        run = self.folder / script
        for _ in range(2):
            done = self.call(script, data.name, script, "small.yml", **environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, figures)
        self.assertEqual(len((run / output).read_text(encoding="utf-8").splitlines()), 40)
        return run

    def test_multi30k_is_trained_and_measured(self):
        sets = [f"tok/{part}.lc.norm.tok" for part in ("train", "val", "test_2016_flickr")]
        self.check("multi30k", self.corpus(sets, "en", "de"), r"BLEU .*\n.+/test\.de +\d+\.\d\d ", "test.de")

    def test_multi30k_is_learned_from_a_teacher_as_well(self):
        data = self.corpus([f"tok/{part}.lc.norm.tok" for part in ("train", "val", "test_2016_flickr")], "en", "de")
        (self.folder / "distilled.de").write_text("das ist ein haus\n" * 400, encoding="utf-8")
        (self.folder / "loud.yml").write_text(SMALL.replace("quiet: true", "quiet: false"), encoding="utf-8")
        done = self.call("multi30k", data.name, "student", "loud.yml", DISTILLED="distilled.de")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("distilled.de: 800 lines, 800 pairs kept", done.stderr)

    def test_java_to_csharp_is_measured_beside_the_java_as_it_is(self):
        data = self.corpus(("train", "valid", "test"), "java", "cs")
        self.check("java-cs", data, r"BLEU .* exact\n.+/test\.java\.gz +\d.*\n.+/test\.cs +\d", "test.cs")

    def test_titles_are_measured_beside_first_sentences_of_the_words_that_are_read(self):
        data = self.corpus(("train", "dev", "test"), "abstract", "title")
        run = self.check("titles", data, r"ROUGE-L\n.+/test\.first +\d.*\n.+/test\.title +\d", "test.title", WORDS="5")
        words = [len(line.split()) for line in (run / "test.abstract").read_text(encoding="utf-8").splitlines()]
        self.assertEqual((len(words), max(words)), (40, 5))

    def test_titles_are_not_learned_from_a_file_that_is_cut_off(self):
        data = self.corpus(("train", "dev", "test"), "abstract", "title")
        whole = (data / "train.abstract.xz").read_bytes()
        (data / "train.abstract.xz").write_bytes(whole[:-4])  # all lines, but no sound end
        done = self.call("titles", data.name, "cut", "small.yml")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Unexpected end of input", done.stderr)
        self.assertFalse((self.folder / "cut/vocab.spm").exists())

    def test_what_is_missing_is_said(self):
        for script, first in (("multi30k", "tok/train.lc.norm.tok.en"), ("java-cs", "train.java"),
                              ("titles", "train.title")):
            done = self.call(script, self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{first} is missing, plain or with .xz, .gz, .zst\n  hint: recipes/README.md", done.stderr)
            self.assertIn(f"usage: scripts/{script} DATA_DIR [FOLDER [RECIPE]]", self.call(script).stderr)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
