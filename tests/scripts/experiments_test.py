#!/usr/bin/env python3
"""recipes/table3 and its like as a user drives them, on a corner of the corpus of scripts/phrases.

    experiments_test.py BINARY
"""

import json
import lzma
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from small_run import SMALL

BINARY = ""  # from the command line
ROOT = Path(__file__).resolve().parents[2]
RECIPES = ("table3", "attention-family", "precision", "lengths", "copying-strings", "copying-names")


class Experiments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A folder with texts in the places of Multi30k (data/tok), some compressed, and a small budget (small.yml)."""
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = folder = Path(temporary.name)
        subprocess.run([sys.executable, "-B", ROOT / "scripts/phrases", folder / "phrases"], check=True)
        (folder / "data/tok").mkdir(parents=True)
        for part, name, lines in (("train", "train", 400), ("test", "test_2016_flickr", 60)):
            for side in ("en", "de"):
                text = (folder / f"phrases/{part}.{side}").read_text(encoding="utf-8").splitlines()[:lines]
                text += [" ".join(text[i:i + 3]) for i in range(0, 60, 3)]
                packed = lzma.compress("".join(f"{line}\n" for line in text).encode())
                (folder / f"data/tok/{name}.lc.norm.tok.{side}.xz").write_bytes(packed)
        (folder / "small.yml").write_text(SMALL, encoding="utf-8")
        (folder / "few.yml").write_text("dim-vocabs: 320\n", encoding="utf-8")

    def start(self, recipe, *arguments, program=None, **more):
        return subprocess.Popen([sys.executable, "-B", ROOT / "recipes" / recipe, *arguments], cwd=self.folder,
                                encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=os.environ | {"DRAGOMAN": program or BINARY}, start_new_session=True, **more)

    def call(self, recipe, *arguments, **more):
        """(exit code, stdout, stderr)"""
        process = self.start(recipe, *arguments, **more)
        said = process.communicate(timeout=200)
        return process.returncode, *said

    def succeed(self, recipe, *arguments):
        code, out, err = self.call(recipe, *arguments)
        self.assertEqual(code, 0, err)
        return out

    def test_a_list_may_be_read_in_part(self):
        process = self.start("table3", "--list")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), "")
        process.stderr.close()
        process.wait(timeout=60)

    def cells(self, table):
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]

    def test_the_options_of_each_row_are_accepted(self):
        for recipe in RECIPES:
            for line in self.succeed(recipe, "--list", "--all").splitlines():
                options = line.partition("\t")[2].split()
                model = "s2s" if "s2s" in options else "transformer"
                words = (f"train -c {ROOT}/recipes/experiments.yml {ROOT}/recipes/experiments-{model}.yml "
                         "-t s t -v v v -m m --dump-config minimal")
                done = subprocess.run([BINARY, *words.split(), *options], capture_output=True, encoding="utf-8",
                                      check=False)
                lacks_bfloat16 = "--precision bfloat16: this CPU" in done.stderr
                self.assertTrue(done.returncode == 0 or lacks_bfloat16, f"{recipe}: {line}\n{done.stderr}")

    def test_each_row_gets_its_figures_and_is_not_done_again(self):
        call = ("data", "out", "-c", "small.yml", "--row", "base", "--row", "(C) model dimension 64")
        first = self.succeed("table3", *call)
        head, _, base, wide = self.cells(first)
        self.assertEqual(head, ["row", "options", "BLEU", "words/s", "parameters", "seconds"])
        self.assertEqual((base[0], wide[:2]), ("base", ["(C) model dimension 64", "`--dim-emb 64`"]))
        self.assertLess(int(base[4].replace(",", "")), int(wide[4].replace(",", "")))
        figures = json.loads((self.folder / "out/base/figures.json").read_text(encoding="utf-8"))
        evaluated = subprocess.run(
            [BINARY, "evaluate", "-r", "data/tok/test_2016_flickr.lc.norm.tok.de.xz", "-i", "out/base/translated.BLEU",
             "--tokenize", "none", "--json"], cwd=self.folder, check=True, capture_output=True).stdout
        self.assertEqual(figures["bleu"]["BLEU"], json.loads(evaluated)["bleu"])
        self.assertAlmostEqual(float(base[2]), figures["bleu"]["BLEU"], delta=0.0051)
        self.assertEqual((self.folder / "out/table.md").read_text(encoding="utf-8"), first)
        written = {file: file.stat().st_mtime_ns for file in (self.folder / "out/base").iterdir()}
        self.assertEqual(self.succeed("table3", *call), first)
        self.assertEqual({file: file.stat().st_mtime_ns for file in (self.folder / "out/base").iterdir()}, written)

    def test_a_folder_of_other_options_is_refused(self):
        call = ("data", "refused", "-c", "small.yml", "--row", "none")
        self.succeed("lengths", *call)
        (self.folder / "other.yml").write_text("after: 10u\n", encoding="utf-8")
        code, _, err = self.call("lengths", *call, "-c", "other.yml")
        self.assertEqual(code, 2)
        self.assertIn("refused/none was made with other options or texts\n  hint: delete it", err)

    def test_a_folder_of_other_texts_is_refused(self):
        call = ("same folder", "-c", "small.yml", "-c", "few.yml", "--row")
        for name, numbers in (("first", range(10, 60)), ("second", range(20, 70))):
            self.tatoeba(name, numbers, range(80, 99))
        table = self.succeed("copying-names", "first", *call, "generates")
        for row in ("generates", "copies"):
            code, out, err = self.call("copying-names", "second", *call, row)
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, "same folder was made with other texts\n  hint: delete it, or name another FOLDER")
        self.assertFalse((self.folder / "same folder/copies").exists())
        self.assertEqual(self.succeed("copying-names", "first", *call, "generates"), table)

    def test_a_call_that_could_not_begin_need_not_be_cleaned_up(self):
        (self.folder / "wrong.yml").write_text(SMALL.replace("dim-vocabs: 700", "dim-vocabs: 100000"), encoding="utf-8")
        code, _, err = self.call("table3", "data", "corrected", "--row", "base", "-c", "wrong.yml")
        self.assertNotEqual(code, 0)
        self.assertTrue((self.folder / "corrected/base/figures.json").exists(), err)
        self.succeed("table3", "data", "corrected", "--row", "base", "-c", "small.yml")

    def test_a_run_that_is_stopped_is_resumed(self):
        (self.folder / "long.yml").write_text(SMALL.replace("20", "400") + "disp-freq: 5u\n", encoding="utf-8")
        call = ("data", "stopped", "-c", "long.yml", "--row", "base")
        process, log = self.start("table3", *call), self.folder / "stopped/base/run.jsonl"
        while not (log.exists() and '"report"' in log.read_text(encoding="utf-8")):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=60)
        self.assertIn("stopped; run the same command again to resume", err)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(self.cells(self.succeed("table3", *call))), 3)
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        starts = [event for event in events if event["event"] == "start"]
        self.assertEqual([event["resumed"] for event in starts], [False, True])
        self.assertGreater(starts[1]["update"], 0)
        self.assertEqual(events[-1]["update"], 400)

    def test_lengths_trains_on_short_texts_and_tests_on_long_ones(self):
        table = self.cells(self.succeed("lengths", "data", "lengths", "-c", "small.yml", "--row", "alibi"))
        self.assertEqual(table[0][2:7], ["1–20", "21–40 whole", "21–30", "31–40", "41–60"])
        texts = {name: [(self.folder / f"lengths/{name}.{side}").read_text(encoding="utf-8").splitlines()
                        for side in ("en", "de")] for name in ("train", "1-20", "21-30", "31-40", "41-60")}
        for name, (sources, targets) in texts.items():
            low, high = (1, 20) if name == "train" else map(int, name.split("-"))
            self.assertEqual(len(sources), len(targets))
            self.assertGreater(len(sources), 2)
            for line in [*sources, *targets]:
                self.assertTrue(low <= len(line.split()) <= high, f"{name}: {line}")
        self.assertTrue(any(line.count(".") == 2 for line in texts["train"][0]))

    def test_what_is_missing_is_said(self):
        for arguments, message in ((("nowhere", "x"), "train.lc.norm.tok.en is missing, also with .xz or .gz"),
                                   (("data", "x", "--row", "nobody"), "there is no row nobody"),
                                   ((), "DATA_DIR is missing")):
            code, _, err = self.call("table3", *arguments)
            self.assertEqual(code, 2)
            self.assertIn(message, err)
        code, _, err = self.call("table3", "data", "x", program="/nowhere/dragoman")
        self.assertEqual((code, err.splitlines()[0]), (2, "error: /nowhere/dragoman is not a program"))
        self.assertIn("--row NAME", self.succeed("table3", "--help"))

    def test_columns_without_lines_are_refused_before_training(self):
        for recipe, column, names in (("lengths", "21–40 whole", [f"tok/{part}.lc.norm.tok" for part in
                                                                 ("train", "test_2016_flickr")]),
                                      ("copying-names", "names", ("train", "test"))):
            data = Path(tempfile.mkdtemp(dir=self.folder))
            (data / "tok").mkdir()
            for name in names:
                for side in ("en", "de"):
                    (data / f"{name}.{side}").write_text("It is 10 .\nIt is 20 .\n", encoding="utf-8")
            code, _, err = self.call(recipe, data, data / "out", "-c", "small.yml")
            self.assertEqual((code, err.splitlines()[0]), (2, f"error: no lines of the text belong in {column}"))

    def test_strings_to_be_copied_are_new_in_each_test(self):
        table = self.cells(self.succeed("copying-strings", "strings", "-c", "small.yml", "--row", "copies"))
        self.assertEqual(table[0][2:6], ["4–8 letters", "9–12 letters", "4–8, one new", "4–8, all new"])
        for cell in table[2][2:6]:
            self.assertTrue(0 <= float(cell) <= 100, cell)
        train = set((self.folder / "strings/train.en").read_text(encoding="utf-8").split())
        for name, lengths in (("4-8-letters", range(4, 9)), ("9-12-letters", range(9, 13)),
                              ("4-8-one-new", range(4, 9)), ("4-8-all-new", range(4, 9))):
            sources, references = ((self.folder / f"strings/{name}.{side}").read_text(encoding="utf-8").splitlines()
                                   for side in ("en", "de"))
            for source, reference in zip(sources, references):
                strings = [word for word in source.split() if word not in train]
                self.assertTrue(strings and all(len(word) in lengths for word in strings), source)
                self.assertLessEqual(set(strings), set(reference.split()))

    def tatoeba(self, name, train, test):
        """A folder with text for copying-names, which has these numbers."""
        folder = self.folder / name
        folder.mkdir()
        words = "red blue green old new small house street river bridge".split()
        for part, numbers in (("train", train), ("test", test)):
            for side, said in (("en", "Tom sees {} of {} {}s ."), ("de", "Tom sieht {} von {} {}s .")):
                lines = [said.format(a, n, b) for n in numbers for a, b in zip(words, words[5:])]
                (folder / f"{part}.{side}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def test_names_and_numbers_to_be_copied_are_new_too(self):
        self.tatoeba("tatoeba", range(10, 60), range(60, 80))
        table = self.cells(self.succeed("copying-names", "tatoeba", "names", "-c", "small.yml", "--row", "generates",
                                        "-c", "few.yml"))
        self.assertEqual(table[0][2:5], ["BLEU", "names", "numbers"])
        train, names, numbers = ((self.folder / f"names/{name}.en").read_text(encoding="utf-8").splitlines()
                                 for name in ("train", "names", "numbers"))
        self.assertEqual((len(train), len(numbers), len(names)), (125, 125, 100))
        self.assertFalse(any("Tom" in line for line in names))
        self.assertTrue(all(re.search(r"\b\d\d\b", line) for line in numbers))


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
