#!/usr/bin/env python3
"""The comparing tool, with a toy model and mostly without peers; with CTranslate2 too where this Python has it.

    compare_test.py BINARY
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from argparse import Namespace
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "compare"))

import binary  # noqa: E402
import samples  # noqa: E402
import table  # noqa: E402
from model_file import ModelFile  # noqa: E402

BINARY = ""  # from the command line
SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 2 --cpu-threads 1 "
         "--mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10 --after 60u --overwrite --quiet").split()
HAS_CTRANSLATE2 = all(map(importlib.util.find_spec, ("ctranslate2", "sentencepiece", "numpy", "safetensors")))


def sampled(**settings):
    s = samples.Samples()
    for setting, values in settings.items():
        for value in values:
            s.add(setting, {samples.TOKENS: value})
    return s


class Table(unittest.TestCase):
    def test_the_peer_is_shown_at_its_best_setting_and_ratios_are_taken_round_by_round(self):
        # Medians: ours 200; theirs 90 (a) and 100 (b). Ratios with b: 100/100, 200/50, 300/200.
        row = table.row("x", samples.TOKENS, sampled(ours=[100, 200, 300]), sampled(a=[90, 90, 90], b=[100, 50, 200]))
        self.assertEqual(row, ["x, target tokens/s", "200", "100", "b", "1.50 (1.00–4.00)"])

    def test_the_best_time_is_the_least(self):
        s = samples.Samples()
        for setting, value in (("slow", 9), ("fast", 2)):
            s.add(setting, {samples.SINGLE: value})
        self.assertEqual(s.best(samples.SINGLE), ("fast", [2]))

    def test_without_a_peer_there_is_no_ratio(self):
        row = table.row("x", samples.TOKENS, sampled(ours=[5]), samples.Samples())
        self.assertEqual(row, ["x, target tokens/s", "5", "–", "", ""])

    def test_every_other_round_goes_backwards(self):
        class Program:
            def __init__(self, *settings):
                self.settings = lambda: settings

        order = []
        samples.collect([Program("a"), Program("b", "c")], 2, lambda _, setting: order.append(setting) or {})
        self.assertEqual(order, ["a", "b", "c", "c", "b", "a"])


class Precision(unittest.TestCase):
    HELP = """Run:
      --precision NAME          numbers that translations are computed with [float32,
                                bfloat16] (default: float32)
      --cpu-threads N           not int8
"""

    def options(self, described, name):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dragoman"
            path.write_text(f"#!/bin/sh\ncat <<'end'\n{described}end\n", encoding="utf-8")
            path.chmod(0o755)
            return binary.Binary(Namespace(dragoman=str(path), threads=1)).precision("translate", name)

    def test_only_what_the_help_page_offers_is_asked_for(self):
        self.assertEqual(self.options(self.HELP, "bfloat16"), ["--precision", "bfloat16"])
        self.assertIsNone(self.options(self.HELP, "int8"))
        self.assertIsNone(self.options("", "bfloat16"))
        self.assertEqual(self.options("", "float32"), [])


class WithModel(unittest.TestCase):
    """A folder with text (s, t) and a small model that knows a little of it."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        words = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
        for name, line in (("s", "the {} {} is {}\n"), ("t", "das {1} {0} ist {2}\n")):
            (cls.folder / name).write_text("".join(line.format(*w) for w in words), encoding="utf-8")
        cls.call(BINARY, *"vocab train --input s t --model v --size 320".split())
        cls.call(BINARY, *"train -t s t -v v v -m m.safetensors".split(), *SMALL)

    @classmethod
    def call(cls, *command):
        done = subprocess.run(list(map(str, command)), cwd=cls.folder, capture_output=True, encoding="utf-8",
                              timeout=240, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
        if done.returncode:
            raise AssertionError(f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compare(self, *options):
        subject, *rest = options
        return self.call(sys.executable, "-B", HERE / "compare", subject, "--dragoman", BINARY, "--threads", 1,
                         "--rounds", 1, *rest)

    def translation(self, *options):
        return self.compare("translation", "--model", "m.safetensors", "--source", "s", "--single-lines", 3, *options)


class WithoutPeers(WithModel):
    def test_translation_says_that_the_peer_is_missing_and_shows_dragoman(self):
        said = self.translation("--reference", "t", "--python", "/no/such/python")
        self.assertIn("CTranslate2: not found: no program /no/such/python\n", said)
        for measure in ("target tokens/s", "source words/s", "start to first result, ms", "single sentence, ms",
                        "peak memory, MiB", "BLEU"):
            self.assertRegex(said, rf"\| beam 5, float32, {measure} \| [\d,.]+ \| – \|")

    def test_training_says_that_the_peer_is_missing(self):
        with self.assertRaisesRegex(AssertionError, "PyTorch: not found: no torch_train.py; --peers names its folder"):
            self.compare("training", "--train", "s", "t", "--vocab", "no-such-vocabulary")

    def test_a_missing_model_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "error: no-such: No such file or directory"):
            self.translation("--model", "no-such")

    def test_a_missing_dragoman_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "error: --dragoman is /no/such, expected the program"):
            self.compare("translation", "--model", "m", "--source", "s", "--dragoman", "/no/such")


class Models(WithModel):
    def test_the_vocabulary_that_is_taken_out_of_a_model_is_the_one_that_went_in(self):
        ModelFile(self.folder / "m.safetensors").save_vocabulary("target", self.folder / "out")
        self.assertEqual((self.folder / "out").read_bytes(), (self.folder / "v").read_bytes())

    def test_pieces_are_cut_into_lines_of_the_length_that_is_forced(self):
        pieces = len(self.call(BINARY, *"vocab encode -m v -i s".split()).split())
        said = self.translation("--length", 5, "--python", "/no/such/python", "--beams", 1)
        self.assertIn(f"\nLines: {pieces // 5}, rounds: 1\n", said)
        self.assertRegex(said, r"\| beam 1, float32, target tokens/s \| [\d,.]+ \|")


@unittest.skipUnless(HAS_CTRANSLATE2, "this Python has no ctranslate2, sentencepiece, numpy, safetensors")
class WithCTranslate2(WithModel):
    KINDS = {
        "post-norm": "--transformer-positions interleaved",
        "pre-norm": "--transformer-preprocess n --transformer-postprocess da --transformer-ffn-activation gelu",
        "untied": "--tied-embeddings-all false --transformer-positions learned --transformer-ffn-activation swish",
        "target tied": "--tied-embeddings",
    }

    def test_every_kind_of_model_translates_as_in_dragoman(self):
        for kind, options in self.KINDS.items():
            with self.subTest(kind):
                self.call(BINARY, *"train -t s t -v v v -m kind.safetensors --no-reload".split(), *SMALL,
                          *options.split())
                said = self.translation("--model", "kind.safetensors", "--normalize", 0, "--precisions", "float32")
                for beam in (1, 5):
                    self.assertIn(f"beam {beam}, float32: 36 of 36 translations are the same", said)

    def test_a_forced_length_gives_the_same_translations(self):
        said = self.translation("--length", 5, "--beams", 1, "--precisions", "float32")
        self.assertRegex(said, r"beam 1, float32: (\d+) of \1 translations are the same")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
