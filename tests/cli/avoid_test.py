#!/usr/bin/env python3
"""End-to-end test of `dragoman translate --avoid`: no translation contains a phrase of the file, all lines are translated,
and lines that need no phrase are translated as ever.

    avoid_test.py BINARY
"""

import os
import random
import re
import sys
import unittest

import translate_test
from translate_test import WithModels

setUpModule = translate_test.setUpModule


def contains(text, phrase):
    """Text and phrases here are letters and blanks."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", " ".join(text.split()))


class Avoid(WithModels):
    def avoiding(self, phrases, *options, lines=None, **more):
        (self.folder / "phrases").write_text("".join(f"{phrase}\n" for phrase in phrases), encoding="utf-8")
        return self.translate(self.lines if lines is None else lines, "--avoid", "phrases", *options, **more)

    def check(self, phrases, found, count=None):
        self.assertEqual(len(found), len(self.lines) if count is None else count)
        for translation in found:
            self.assertTrue(translation.strip())
            for phrase in phrases:
                self.assertFalse(contains(translation, phrase), f"{translation}: {phrase}")

    def phrases_of(self, translations, seed):
        """Words, pairs of words and beginnings of words of the translations."""
        choice = random.Random(seed)
        phrases = []
        for line in choice.sample(translations, 6):
            words = line.split()
            at = choice.randrange(len(words))
            phrases += [words[at], " ".join(words[at : at + 2]), words[at][:3]]
        return choice.sample(phrases, 4)

    def test_no_translation_contains_a_phrase(self):
        for seed, options in enumerate(([], ["-b", "1"], ["-b", "2", "--search-rule", "fairseq"],
                                        ["--search-rule", "huggingface"], ["--no-repeat-ngram", "2"],
                                        ["--precision", "int8"], ["--precision", "bfloat16"], ["--min-length", "20"],
                                        ["--output-sampling", "full"], ["--output-sampling", "topk", "3"])):
            free = self.translate(self.lines, *options)
            phrases = self.phrases_of(free, seed)
            with self.subTest(options=options, phrases=phrases):
                found = self.avoiding(phrases, *options)
                self.check(phrases, found)
                self.assertNotEqual(found, free)

    def test_does_not_depend_on_other_lines(self):
        phrases = self.phrases_of(self.translate(self.lines), 77)
        expected = self.avoiding(phrases)
        self.assertEqual(self.avoiding(phrases, lines=self.lines[::-1])[::-1], expected)
        for options in (["--cpu-threads", "3"], ["--processes", "2"], ["--mini-batch-words", "1"]):
            self.assertEqual(self.avoiding(phrases, *options), expected)

    def test_what_no_translation_has_changes_nothing(self):
        free = self.translate(self.lines, "--n-best", "3", "--word-scores")
        unused = ["Zugspitze", "das neue Haus steht dort", "漢字", "\u00A0", ""]
        self.assertEqual(self.avoiding(unused, "--n-best", "3", "--word-scores"), free)

    def test_works_with_shortlists_ensembles_and_lists(self):
        self.succeed("align -m a.safetensors -t s t --shortlist few --quiet")
        model = "a.safetensors b.safetensors"
        phrases = self.phrases_of(self.translate(self.lines, "--shortlist", "few", model=model), 3)
        self.check(phrases, self.avoiding(phrases, "--shortlist", "few", model=model))
        best = self.avoiding(phrases, "--n-best", "3", model=model)
        self.check(phrases, [line.split(" ||| ")[1] for line in best], count=3 * len(self.lines))

    def test_scores_are_those_of_the_model(self):
        phrases = self.phrases_of(self.translate(self.lines), 5)
        found = [line.split("\t", 1) for line in self.avoiding(phrases, "--scores")]
        (self.folder / "avoided").write_text("".join(f"{text}\n" for _, text in found), encoding="utf-8")
        (self.folder / "sources").write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")
        scores = self.succeed("score -m a.safetensors -t sources avoided --quiet").decode().split("\n")
        # A translation may have other pieces than those that its text is split into, and then another score.
        same = sum(abs(float(log_prob) - float(score)) < 1e-3 for (log_prob, _), score in zip(found, scores))
        self.assertGreater(same, len(self.lines) // 4)

    def test_lines_in_segments_and_files_without_the_last_line_end(self):
        line = ". ".join(self.lines[:4]) + "."
        word = self.translate([line], "--max-length", "12")[0].split()[0]
        (self.folder / "phrases").write_text(f"\ufeff  {word} \r\n\r\nno such", encoding="utf-8")
        found = self.translate([line], "--max-length", "12", "--avoid", "phrases")
        self.check([word], found, count=1)

    def test_a_forced_beginning_stays(self):
        (self.folder / "phrases").write_text("das Haus\nneu\n", encoding="utf-8")
        done = self.call("translate -m a.safetensors --force-decode --avoid phrases",
                         text=f"{self.lines[0]}\n{self.lines[1]}\tdas Haus ist\n{self.lines[1]}\tdas Haus\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        found, said = done.stdout.decode().splitlines(), done.stderr.decode()
        self.assertTrue(found[1].startswith("das Haus ist"), found)
        self.assertEqual(said.count("which --avoid forbids"), 1, said)
        self.assertIn("the forced prefix of line 2 contains 'das Haus', which --avoid forbids: the prefix is kept", said)

    def test_decides_against_constraints(self):
        (self.folder / "phrases").write_text("Haus\n", encoding="utf-8")
        lines = [f"{self.lines[0]}\tmein Haus\tneu", f"{self.lines[1]}\tneu"]
        done = self.call("translate -m a.safetensors --constraints --avoid phrases", text="\n".join(lines) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.decode().splitlines():
            self.assertIn("neu", line)
            self.assertFalse(contains(line, "Haus"))
        said = done.stderr.decode()
        self.assertIn("the translation of line 1 does not contain all its required phrases", said)
        self.assertIn("or --avoid forbids them", said)

    def test_a_glossary_must_not_contradict_it(self):
        (self.folder / "phrases").write_text("Haus\n", encoding="utf-8")
        (self.folder / "terms").write_text("car\tAuto\nhouse\tmein Haus\n", encoding="utf-8")
        done = self.call("translate -m a.safetensors --glossary terms --avoid phrases", text="a\n")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr.decode(), r"terms, line 2: the translation 'mein Haus' \(in pieces: .*\) contains 'Haus'")
        (self.folder / "terms").write_text("house\tGebäude\n", encoding="utf-8")
        for line, found in zip(self.lines, self.translate(self.lines, "--glossary", "terms", "--avoid", "phrases")):
            self.assertFalse(contains(found, "Haus"))
            self.assertEqual("Gebäude" in found, "house" in line, found)

    def test_the_names_of_other_programs_lead_to_it(self):
        done = self.call("translate -m a.safetensors --avoid-list phrases")
        self.assertEqual(done.returncode, 2)
        self.assertIn("use --avoid", done.stderr.decode())


if __name__ == "__main__":
    translate_test.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
