#!/usr/bin/env python3
"""End-to-end test of the warning of all commands about text whose tokens their vocabulary does not have.

    unknown_tokens_test.py BINARY
"""

import random
import re

import command_case
from command_case import CommandCase

TRAIN = ("train --dim-emb 16 --transformer-heads 1 --transformer-dim-ffn 16 --enc-depth 1 --dec-depth 1 --decoder-start eos "
         "--mini-batch-words 512 --lr-warmup 1 --after 2u --cpu-threads 1")
WORDS = "red blue green house cat dog sun moon tree river".split()


class UnknownTokens(CommandCase):
    @classmethod
    def setUpClass(cls):
        """Lines of words (s), in capitals (S) and split into pieces (p); models of a list of words and of pieces (list, m)."""
        super().setUpClass()
        draw = random.Random(1)
        lines = "".join(" ".join(draw.choices(WORDS, k=6)) + "\n" for _ in range(300))
        (cls.folder / "s").write_text(lines, encoding="utf-8")
        (cls.folder / "S").write_text(lines.upper(), encoding="utf-8")
        cls.succeed("vocab train --input s --model v --size 290")
        (cls.folder / "p").write_text(cls.succeed("vocab encode -m v -i s"), encoding="utf-8")
        cls.succeed(f"{TRAIN} --quiet -t s s -v words.yml words.yml -m list")
        cls.succeed(f"{TRAIN} --quiet -t s s -v v v -m m")

    def warnings(self, command):
        """What comes before the advice, and the advice itself."""
        done = self.call(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(r"\] ([\d,]+ of [\d,]+ .* tokens read from .* are unknown to [^:]*): (.*)", done.stderr)

    def test_lists_of_other_tokens_are_noticed_by_each_command(self):
        for command, side, text, vocabulary in (
                (f"{TRAIN} -t S s -v words.yml words.yml -m new", "source", "S", "words.yml"),
                (f"{TRAIN} --dry-run -t s S -v words.yml words.yml -m never", "target", "S", "words.yml"),
                ("align -v words.yml words.yml -t s S --iterations 1 -o links", "target", "S", "words.yml"),
                ("align -m list -t S s --iterations 1 -o links", "source", "S", "the vocabulary of list"),
                ("score -m list -t S s -o scores", "source", "S", "the vocabulary of list"),
                ("score -m list -t s S -o scores", "target", "S", "the vocabulary of list"),
                ("translate -m list -i S -o out", "source", "S", "the vocabulary of list")):
            with self.subTest(command):
                [(what, advice)] = self.warnings(command)
                self.assertRegex(what, rf"^([\d,]+) of \1 {side} tokens read from {text} are unknown to {vocabulary}$")
                self.assertIn("prepare this text in the same way", advice)
                self.assertEqual(self.warnings(command.replace("S", "s").replace("-m new", "-m sound")), [])

    def test_validation_text_of_other_tokens_is_noticed(self):
        for name, target in (("right.tsv", "red dog"), ("both.tsv", "RED DOG")):
            (self.folder / name).write_text(f"red dog\t{target}\n" * 9, encoding="utf-8")
        train = f"{TRAIN} -v words.yml words.yml -m validated --no-reload"
        for more, side, text in (("-t s s --valid-sets s S", "target", "S"), ("-t s s --valid-sets S s --dry-run", "source", "S"),
                                 ("-t s s --valid-sets S s --processes 2", "source", "S"),
                                 ("-t right.tsv --tsv --valid-sets both.tsv", "target", "both.tsv")):
            with self.subTest(more):
                [(what, advice)] = self.warnings(f"{train} {more}")
                self.assertRegex(what, rf"^([\d,]+) of \1 {side} tokens read from {text} are unknown to words.yml$")
                self.assertIn("prepare this text in the same way", advice)
        self.assertEqual(self.warnings(f"{train} -t s s --valid-sets s s"), [])

    def test_the_summary_of_the_corpus_counts_them(self):
        (self.folder / "one").write_text("red\n" * 9 + "red pink\n", encoding="utf-8")
        (self.folder / "ten").write_text("red\n" * 10, encoding="utf-8")
        done = self.call(f"{TRAIN} -t one ten -v words.yml words.yml -m few")
        self.assertIn("10 pairs kept with 21 source and 20 target tokens; 1 source and 0 target tokens unknown\n", done.stderr)
        self.assertNotIn("read from", done.stderr)

    def test_text_that_is_not_split_into_pieces_is_noticed(self):
        for command in (f"{TRAIN} -t s s -v v v -m plain --no-spm-encode", "score -m m -t s s -o scores --no-spm-encode",
                        "align -m m -t s s --iterations 1 -o links --no-spm-encode"):
            found = self.warnings(command)
            self.assertEqual([re.search("source|target", what)[0] for what, _ in found], ["source", "target"], command)
            for _, advice in found:
                self.assertIn("--no-spm-encode is for text that is split into the pieces of the vocabulary", advice)
            self.assertEqual(self.warnings(command.replace("-t s s", "-t p p").replace("plain", "pieces")), [], command)
        [(what, _)] = self.warnings("translate -m m -i s -o out --no-spm-encode")
        self.assertIn("source tokens read from s are unknown to the vocabulary of m", what)

    def test_several_processes_warn_once(self):
        for command in ("score -m list -t S s -o scores", "translate -m list -i S -o out"):
            self.assertEqual(len(self.warnings(f"{command} --processes 2")), 1, command)


if __name__ == "__main__":
    command_case.main()
