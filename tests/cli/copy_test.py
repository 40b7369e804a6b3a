#!/usr/bin/env python3
"""End-to-end test of `dragoman train --copy`: pieces never seen as targets are copied, in every way to translate.

    copy_test.py BINARY
"""

import random

import command_case
from command_case import CommandCase

SMALL = ("--dim-emb 32 --transformer-heads 2 --transformer-dim-ffn 64 --enc-depth 1 --dec-depth 1 --mini-batch-words 512 "
         "--learn-rate 0.01 --lr-warmup 30 --transformer-dropout 0 --cpu-threads 1 --quiet")


KNOWN, NEW = "abcdefghijklm", "nopqrstuvwxyz"


def sentences(count, draw):
    return [draw.choices(KNOWN, k=draw.randint(2, 5)) for _ in range(count)]


def with_a_new_letter(sentences, draw):
    for sentence in sentences:
        sentence[draw.randrange(len(sentence))] = draw.choice(NEW)
        yield sentence


class Copying(CommandCase):
    """Training pairs have a word that is translated, then letters from a to m, the same on both sides. Each test line
    also has a letter that training lacks."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        known, new = sentences(1500, draw), list(with_a_new_letter(sentences(50, draw), draw))
        cls.lines = [" ".join(["say", *letters]) for letters in new]
        for name, lines in (("s", [" ".join(["say", *letters]) for letters in known]),
                            ("t", [" ".join(["sage", *letters]) for letters in known]),
                            ("tested.s", cls.lines), ("tested.t", [" ".join(["sage", *letters]) for letters in new]),
                            ("letters", ["say sage", " ".join(KNOWN + NEW)] * 20)):
            (cls.folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        cls.succeed("vocab train --input letters --model v --size 60 --no-byte-fallback")
        for name, more in (("m", "--copy --after 300u"), ("plain", "--after 40u")):
            cls.succeed(f"train -t s t -v v v -m {name}.safetensors {SMALL} {more}")

    @classmethod
    def lines_of(cls, command, lines=()):
        return cls.succeed(command, text="".join(f"{line}\n" for line in lines)).splitlines()

    def right(self, translations):
        """How many of them are."""
        return sum(map(str.__eq__, translations, (self.folder / "tested.t").read_text(encoding="utf-8").splitlines()))

    def test_pieces_that_training_has_not_seen_come_through(self):
        for more in ("-b 1", "-b 4", "-b 2 --precision int8", "-b 2 --precision bfloat16",
                     "--output-sampling nucleus 0.3"):
            with self.subTest(more):
                self.assertGreater(self.right(self.lines_of(f"translate --quiet -m m.safetensors {more}", self.lines)), 25)
        self.assertEqual(self.right(self.lines_of("translate --quiet -m plain.safetensors", self.lines)), 0)

    def test_a_translation_does_not_depend_on_its_neighbours(self):
        together = self.lines_of("translate --quiet -m m.safetensors -b 3 --n-best 3", self.lines)
        alone = self.lines_of("translate --quiet -m m.safetensors -b 3 --n-best 3 --mini-batch-words 1", self.lines)
        self.assertEqual(alone, together)

    def test_scores_are_the_searchs(self):
        best = self.lines_of("translate --quiet -m m.safetensors -b 3 --n-best 1", self.lines)
        (self.folder / "out").write_text("".join(line.split(" ||| ")[1] + "\n" for line in best))
        for line, score in zip(best, self.lines_of("score -m m.safetensors -t tested.s out")):
            self.assertAlmostEqual(float(line.split("F0= ")[1].split()[0]), float(score), delta=2e-3)

    def test_a_model_that_copies_translates_with_one_that_does_not(self):
        self.assertEqual(len(self.lines_of("translate --quiet -m m.safetensors plain.safetensors -b 2", self.lines)),
                         len(self.lines))

    def test_models_are_averaged_quantized_inspected_and_explained(self):
        self.succeed("average -o mean.safetensors m.safetensors m.safetensors")
        self.succeed("quantize -m m.safetensors -o small.safetensors")
        expected = self.lines_of("translate --quiet -m m.safetensors", self.lines)
        self.assertEqual(self.lines_of("translate --quiet -m mean.safetensors", self.lines), expected)
        self.assertGreater(self.right(self.lines_of("translate --quiet -m small.safetensors", self.lines)), 25)
        page = self.succeed("inspect m.safetensors")
        self.assertRegex(page, r"copies +pieces of the source")
        self.assertNotIn("copies", self.succeed("inspect plain.safetensors"))
        for method in ("raw", "gradient"):
            self.succeed(f"explain -m m.safetensors --method {method} --format json -t tested.s tested.t")
        self.assertRegex(self.lines_of("translate --quiet -m m.safetensors --alignment hard", self.lines[:1])[0], r"\d-\d")

    def test_a_dry_run_plans_for_it(self):
        plan = self.succeed(f"train -t s t -v v v -m new.safetensors {SMALL} --copy --after 300u --dry-run")
        self.assertIn("memory", plan.lower())


if __name__ == "__main__":
    command_case.main()
