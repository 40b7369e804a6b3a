#!/usr/bin/env python3
"""Attention as a user sees it: `--alignment` of translate and score, with a model that has learned to write words of one
alphabet in another.

    explain_test.py BINARY
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""  # from the command line
SMALL = ("--dim-emb 32 --transformer-heads 1 --transformer-dim-ffn 64 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 512 --learn-rate 0.01 --lr-warmup 30 --after 400u --cpu-threads 1 --quiet").split()
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
LATIN, GREEK = "abgdezhiklmnxoprstufqw", "αβγδεζηικλμνξοπρστυφχω"


class Alignment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A folder with text (s, t), a piece a letter, and a model of it (m)."""
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        draw = random.Random(1)
        cls.lines = ["".join(draw.sample(LATIN, draw.randint(3, 8))) for _ in range(600)]
        cls.greek = [line.translate(str.maketrans(LATIN, GREEK)) for line in cls.lines]
        (cls.folder / "s").write_text("\n".join(cls.lines) + "\n", encoding="utf-8")
        (cls.folder / "t").write_text("\n".join(cls.greek) + "\n", encoding="utf-8")
        cls.succeed("vocab train --input s t --model v --size 305")
        cls.succeed("train -t s t -v v v -m m", *SMALL)

    @classmethod
    def call(cls, command, *more, text=""):
        return subprocess.run([BINARY, *command.split(), *more], cwd=cls.folder, timeout=240, check=False, input=text,
                              encoding="utf-8", capture_output=True, env=ENVIRONMENT)

    @classmethod
    def succeed(cls, command, *more, text=""):
        done = cls.call(command, *more, text=text)
        if done.returncode:
            raise AssertionError(f"{command}\n{done.stderr}")
        return done.stdout

    def translate(self, lines, *options):
        return self.succeed("translate --quiet -m m", *options, text="".join(f"{l}\n" for l in lines)).splitlines()

    def pieces(self, lines):
        """How many each line has, with </s>."""
        text = self.succeed("vocab encode -m v", text="".join(f"{l}\n" for l in lines))
        return [len(line.split()) + 1 for line in text.splitlines()]

    def test_hard_has_a_pair_for_each_target_piece_and_changes_no_translation(self):
        plain, aligned = self.translate(self.lines[:50]), self.translate(self.lines[:50], "--alignment")
        self.assertEqual([line.split(" ||| ")[0] for line in aligned], plain)
        for line, source, scores in zip(aligned, self.pieces(self.lines), self.translate(
                self.lines[:50], "--word-scores")):
            pairs = [tuple(map(int, pair.split("-"))) for pair in line.split(" ||| ")[1].split()]
            self.assertEqual(pairs, sorted(pairs))
            predicted = len(scores.split("WordScores= ")[1].split())
            self.assertEqual(sorted(target for _, target in pairs), list(range(predicted)))
            self.assertTrue(all(0 <= s < source for s, _ in pairs), line)

    def test_soft_has_rows_that_sum_to_one_and_agree_with_hard_and_a_threshold(self):
        lines = self.lines[:20]
        soft, hard, above = (self.translate(lines, "--alignment", how) for how in ("soft", "hard", "0.3"))
        for line, best, some, source in zip(soft, hard, above, self.pieces(lines)):
            rows = [[float(w) for w in row.split(",")] for row in line.split(" ||| ")[1].split()]
            for row in rows:
                self.assertEqual(len(row), source)
                self.assertAlmostEqual(sum(row), 1, delta=1e-4)
            links = lambda text: set(text.split(" ||| ")[1].split())
            self.assertEqual(links(best), {f"{row.index(max(row))}-{j}" for j, row in enumerate(rows)})
            self.assertEqual(links(some), {f"{i}-{j}" for j, row in enumerate(rows)
                                           for i, weight in enumerate(row) if weight > 0.3})

    def test_what_was_learned_letter_by_letter_stands_on_the_diagonal(self):
        diagonal = total = 0
        (self.folder / "some.s").write_text("\n".join(self.lines[:100]) + "\n", encoding="utf-8")
        (self.folder / "some.t").write_text("\n".join(self.greek[:100]) + "\n", encoding="utf-8")
        for line in self.succeed("score -m m -t some.s some.t --alignment").splitlines():
            for source, target in re.findall(r"(\d+)-(\d+)", line.split(" ||| ")[1]):
                diagonal, total = diagonal + (abs(int(source) - int(target)) <= 1), total + 1
        self.assertGreater(diagonal / total, 0.7)

    def test_a_line_is_aligned_the_same_in_any_batch(self):
        for precision in ("float32", "int8"):
            options = ("--alignment", "soft", "--precision", precision)
            together = self.translate(self.lines[:30], *options)
            self.assertEqual(self.translate(self.lines[:30], *options, "--mini-batch-words", "1"), together)
            self.assertEqual(self.translate(self.lines[7:8], *options), together[7:8])

    def test_scoring_a_translation_aligns_it_as_translating_did(self):
        for how in ("hard", "soft"):
            found = self.translate(self.lines[:30], "--alignment", how)
            (self.folder / "few").write_text("\n".join(self.lines[:30]) + "\n", encoding="utf-8")
            (self.folder / "out").write_text("".join(l.split(" ||| ")[0] + "\n" for l in found), encoding="utf-8")
            scored = self.succeed("score -m m -t few out --alignment", how).splitlines()
            same = [a.split(" ||| ")[1] == b.split(" ||| ")[1] for a, b in zip(found, scored)]
            self.assertGreater(sum(same), 25)  # text may be cut into other pieces than the model chose

    def test_lists_have_alignments_before_scores_and_can_be_scored_again(self):
        lists = self.translate(self.lines[:3], "--n-best", "--alignment", "--word-scores")
        self.assertEqual(len(lists), 15)
        for line in lists:
            self.assertRegex(line, r"^[012] \|\|\| .* \|\|\| (\d+-\d+ ?)+ \|\|\| WordScores= .* \|\|\| F0= .* \|\|\| ")
        (self.folder / "list").write_text("".join(f"{l}\n" for l in lists), encoding="utf-8")
        again = self.succeed("score -m m -t s list --n-best").splitlines()
        self.assertEqual([re.sub(r" Score= \S+", "", line) for line in again], lists)
        soft = self.succeed("score -m m -t s list --n-best --alignment soft").splitlines()
        self.assertRegex(soft[0].split(" ||| ")[2], r"^[\d.e-]+(,[\d.e-]+)+ ")

    def test_empty_lines_and_long_ones_keep_their_places(self):
        line = "a b g d " * 10
        found = self.translate(["", "abg", line], "--alignment", "--max-length", "8", "--max-length-factor", "1")
        self.assertEqual(len(found), 3)
        self.assertEqual(found[0], " ||| ")
        pairs = re.findall(r"(\d+)-(\d+)", found[2].split(" ||| ")[1])
        self.assertGreater(max(int(source) for source, _ in pairs), 16)  # pieces of all parts are counted
        self.assertEqual(len({target for _, target in pairs}), len(pairs))

    def test_options_that_make_no_sense_are_refused(self):
        for command, message in (("translate -m m --alignment=weich", "none of hard, soft, none"),
                                 ("translate -m m --alignment 1.5", "none of hard, soft, none"),
                                 ("score -m m -t s t --alignment --summary", "--alignment contradicts --summary")):
            done = self.call(command)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
