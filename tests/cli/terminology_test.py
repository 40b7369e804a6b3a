#!/usr/bin/env python3
"""End-to-end test of `dragoman translate --glossary` and `--constraints`: every translation contains its terms, and lines
without terms are translated as ever.

    terminology_test.py BINARY
"""

import os
import sys
import unittest

import translate_test
from translate_test import WithModels

setUpModule = translate_test.setUpModule

TERMS = {"red": "kaum rot", "house": "Gebäude", "new": "neu"}


class Terminology(WithModels):
    @classmethod
    def setUpClass(cls):
        cls.with_glossary = ["--glossary", "terms"]
        (cls.folder / "terms").write_text("".join(f"{s}\t{t}\n" for s, t in TERMS.items()), encoding="utf-8")

    def check(self, lines, found):
        self.assertEqual(len(found), len(lines))
        for line, translation in zip(lines, found):
            for source, target in TERMS.items():
                self.assertGreaterEqual(translation.count(target), line.split().count(source), translation)

    def test_occurs_in_every_line_that_has_terms_and_changes_no_other(self):
        for options in ([], ["-b", "1"], ["-b", "2", "--search-rule", "fairseq"], ["--no-repeat-ngram", "1"],
                        ["--search-rule", "huggingface"], ["--precision", "int8"], ["--mini-batch-words", "1"]):
            free = self.translate(self.lines, *options)
            found = self.translate(self.lines, *options, *self.with_glossary)
            self.check(self.lines, found)
            for line, before, now in zip(self.lines, free, found):
                if not set(line.split()) & set(TERMS):
                    self.assertEqual(now, before)

    def test_does_not_depend_on_other_lines(self):
        expected = self.translate(self.lines, *self.with_glossary)
        self.assertEqual(self.translate(self.lines[::-1], *self.with_glossary)[::-1], expected)
        self.assertEqual(self.translate(self.lines, *self.with_glossary, "--cpu-threads", "3"), expected)
        self.assertEqual(self.translate(self.lines, *self.with_glossary, "--processes", "2"), expected)

    def test_works_with_shortlists_ensembles_and_lists(self):
        self.succeed("align -m a.safetensors -t s t --shortlist few --quiet")
        found = self.translate(self.lines, *self.with_glossary, "--shortlist", "few", model="a.safetensors b.safetensors")
        self.check(self.lines, found)
        best = self.translate(self.lines, *self.with_glossary, "--n-best", "3", "--word-scores")
        self.assertEqual(len(best), 3 * len(self.lines))
        self.assertEqual([line.split(" ||| ")[1] for line in best[::3]],
                         self.translate(self.lines, *self.with_glossary))
        self.check([line for line in self.lines for _ in range(3)], [line.split(" ||| ")[1] for line in best])

    def test_a_term_counts_in_its_segment(self):
        line = ". ".join(self.lines[:4]) + "."
        self.check([line], self.translate([line], *self.with_glossary, "--max-length", "12"))

    def test_terms_beyond_the_limit_of_a_segment_are_named_once(self):
        many = " ".join(["red"] * 400)
        (self.folder / "long").write_text(f"red\t{'sehr rot ' * 40}\n", encoding="utf-8")
        done = self.call("translate -m a.safetensors --glossary long -b 1 --max-length-factor 0.01 --max-length-add 5",
                         text=f"red\n{many}\n{many}\n")
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (0, 3), done.stderr)
        said = done.stderr.decode()
        self.assertEqual(said.count("have more than 1,000 pieces"), 1, said)
        self.assertRegex(said, r"line 2 has a segment in which the terms of --glossary have more than 1,000 pieces: "
                               r"'(sehr rot ?){40}' and [0-9]+ more are not required there")

    def test_what_the_best_translation_has_anyway_changes_nothing(self):
        free = self.translate(self.lines, "-b", "40")
        (self.folder / "anyway").write_text("the\tdas\n", encoding="utf-8")
        self.assertTrue(all(line.startswith("das ") for line in free), free)
        self.assertEqual(self.translate(self.lines, "-b", "40", "--glossary", "anyway"), free)


class Constraints(WithModels):
    def test_follow_the_line_behind_tabs(self):
        found = self.translate([f"{line}\tneu\tein Wagen" for line in self.lines], "--constraints")
        self.assertTrue(all("neu" in line and "ein Wagen" in line for line in found), found)
        found = self.translate([f"{line}\tneu\tein Wagen" for line in self.lines], "--constraints", "ordered")
        self.assertTrue(all(0 <= line.find("neu") < line.find("ein Wagen") for line in found), found)
        free = self.translate(self.lines)
        self.assertEqual(self.translate([line + "\t\t " for line in self.lines], "--constraints"), free)

    def test_come_after_the_forced_beginning(self):
        found = self.translate([f"{line}\tein Anfang\tneu" for line in self.lines], "--constraints", "--force-decode")
        self.assertTrue(all(line.startswith("ein Anfang") and "neu" in line for line in found), found)

    def test_of_a_line_in_segments_count_for_the_first_one(self):
        line = ". ".join(self.lines[:4])
        text = f"{line}\n{self.lines[0]}\tneu\n{line}\tneu\n{line}\tneu\n"
        done = self.call("translate -m a.safetensors --constraints --max-length 12", text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode().count("neu"), 3, done.stdout)
        said = done.stderr.decode()
        self.assertEqual(said.count("its --constraints all count for the first one"), 1, said)
        self.assertIn("line 3 is split into segments", said)

    def test_that_cannot_occur_are_counted(self):
        lines = ["the red house", "▁the\t▁das", "▁the\t</s>", "▁the\tno-piece"]
        done = self.call("translate -m a.safetensors --no-spm-encode --constraints", text="\n".join(lines) + "\n")
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (0, 4), done.stderr)
        said = done.stderr.decode()
        self.assertIn("the translation of line 3 does not contain all its required phrases", said)
        self.assertIn("The translations of 2 lines do not contain", said)


if __name__ == "__main__":
    translate_test.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
