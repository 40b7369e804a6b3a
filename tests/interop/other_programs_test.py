#!/usr/bin/env python3
"""What other programs make of the models that `dragoman convert --to` writes, beside what dragoman makes of its own.

    other_programs_test.py BINARY

Skipped, with a word, for programs that are not installed (pip install ctranslate2 sentencepiece torch transformers pymarian).
"""

import importlib
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
SENTENCES = [("a small dog runs .", "ein kleiner hund rennt ."), ("two men .", "zwei männer ."), ("a house", "ein haus")]
LINES = {side: [f"{pair[side]} {pair[side]}"[:12 + 7 * i] for i, pair in enumerate(SENTENCES * 30)] for side in (0, 1)}
SMALL = ["--dim-emb", "32", "--transformer-heads", "4", "--transformer-dim-ffn", "64", "--enc-depth", "2", "--dec-depth",
         "2", "--after", "150u", "--learn-rate", "0.003", "--lr-warmup", "20u", "--mini-batch-words", "256",
         "--cpu-threads", "1"]


def modules(*names):
    """The modules, or a word that says which is missing."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as missing:
        raise unittest.SkipTest(f"{missing.name} is not installed") from missing


def rows_of(line):
    """The weights of a line of --alignment soft."""
    return [[float(weight) for weight in row.split(",")] for row in line.split(" ||| ")[-1].split()]


class OtherPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        for name, side in (("s", 0), ("t", 1)):
            (cls.folder / name).write_text("".join(line + "\n" for line in LINES[side]), encoding="utf-8")
        cls.call("vocab", "train", "--input", "s", "t", "--model", "v", "--size", "300")
        cls.call("train", "-t", "s", "t", "-v", "v", "v", "-m", "m", *SMALL)
        cls.scores = [float(s) for s in cls.call("score", "-m", "m", "-t", "s", "t").split()][:9]

    @classmethod
    def call(cls, *arguments):
        done = subprocess.run([BINARY, *arguments], cwd=cls.folder, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def lines(self, side):
        return LINES[side][:9]

    def test_ctranslate2_gives_the_same_probabilities_and_translations(self):
        modules("ctranslate2", "sentencepiece")
        self.compare_with_ctranslate2("m", self.scores)

    def test_ctranslate2_gives_the_same_of_a_model_with_gated_layers_and_relative_biases(self):
        modules("ctranslate2", "sentencepiece")
        self.call("train", "-t", "s", "t", "-v", "v", "v", "-m", "gated", *SMALL, "--transformer-ffn-gated",
                  "--transformer-ffn-activation", "swish", "--transformer-positions", "relative-bias",
                  "--transformer-norm", "rms", "--transformer-preprocess", "n", "--transformer-postprocess", "da",
                  "--transformer-dim-key", "12")
        scores = [float(s) for s in self.call("score", "-m", "gated", "-t", "s", "t").split()]
        self.compare_with_ctranslate2("gated", scores)

    def test_ctranslate2_gives_the_same_of_models_with_positions_in_self_attention(self):
        modules("ctranslate2", "sentencepiece")
        for positions in ("relative", "rotary", "alibi"):
            self.call("train", "-t", "s", "t", "-v", "v", "v", "-m", positions, *SMALL, "--transformer-positions",
                      positions)
            scores = [float(s) for s in self.call("score", "-m", positions, "-t", "s", "t").split()]
            with self.subTest(positions):
                self.compare_with_ctranslate2(positions, scores)

    def compare_with_ctranslate2(self, model, scores):
        ctranslate2, sentencepiece = modules("ctranslate2", "sentencepiece")
        folder = self.folder / f"ct2-{model}"
        self.call("convert", "-i", model, "-o", folder.name, "--to", "ctranslate2")
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
        translator = ctranslate2.Translator(str(folder), compute_type="float32")
        sources, targets = ([pieces.encode(line, out_type=str) for line in self.lines(side)] for side in (0, 1))
        for ours, theirs in zip(scores, translator.score_batch(sources, targets)):
            self.assertAlmostEqual(ours, sum(theirs.log_probs), delta=1e-4)
        found = translator.translate_batch(sources, beam_size=3, max_decoding_length=60)
        (self.folder / "few").write_text("\n".join(self.lines(0)) + "\n", encoding="utf-8")
        ours = self.call("translate", "-m", model, "-i", "few", "-b", "3", "--search-rule", "ctranslate2")
        self.assertEqual([pieces.decode(r.hypotheses[0]) for r in found], ours.splitlines())

    def test_marian_gives_the_same_probabilities_and_translations(self):
        modules("_pymarian")
        self.call("train", "-t", "s", "t", "-v", "v", "v", "-m", "like", "--task", "transformer-base-marian", *SMALL)
        self.call("convert", "-i", "like", "-o", "marian", "--to", "marian")
        scores = [float(s) for s in self.call("score", "-m", "like", "-t", "s", "t").split()]
        files = [str(self.folder / "marian" / name) for name in ("source.spm", "target.spm")]
        options = ["-m", str(self.folder / "marian" / "model.bin"), "--vocabs", *files, "--cpu-threads", "1", "--quiet",
                   "--mini-batch", "1"]
        theirs = self.marian("score", [*options, "-t", str(self.folder / "s"), str(self.folder / "t")])
        for ours, line in zip(scores, theirs.splitlines(), strict=True):
            self.assertAlmostEqual(ours, float(line.split()[0]), delta=1e-4)
        theirs = self.marian("decode", [*options, "-i", str(self.folder / "s"), "-b", "3", "-n", "1"])
        ours = self.call("translate", "-m", "like", "-i", "s", "-b", "3", "--max-length-factor", "3")
        same = sum(a == b for a, b in zip(ours.splitlines(), theirs.splitlines(), strict=True))
        self.assertGreater(same, 0.9 * len(LINES[0]))  # the limits of length count </s> differently

    def marian(self, task, options):
        """What a command of pymarian prints."""
        main = "import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))"
        done = subprocess.run([sys.executable, "-c", main, task, *options], capture_output=True, encoding="utf-8",
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def guided(self, name, *more):
        """A model whose first decoder layer has learned word alignments."""
        self.call("align", "-t", "s", "t", "-v", "v", "v", "-o", "links", "--quiet")
        self.call("train", "-t", "s", "t", "-v", "v", "v", "-m", name, *more, *SMALL, "--guided-alignment", "links",
                  "--transformer-guided-alignment-layer", "1")

    def assert_same_alignment(self, ours, theirs, columns):
        for our_row, their_row in zip(ours, theirs, strict=True):
            for our_weight, their_weight in zip(our_row[:columns], their_row[:columns]):
                self.assertAlmostEqual(our_weight, their_weight, delta=1e-4)

    def test_marian_gives_the_same_alignments(self):
        modules("_pymarian")
        self.guided("aligned", "--task", "transformer-base-marian")
        self.call("convert", "-i", "aligned", "-o", "marian-aligned", "--to", "marian")
        folder = self.folder / "marian-aligned"
        theirs = self.marian("score", ["-m", str(folder / "model.bin"), "--vocabs", str(folder / "source.spm"),
                                       str(folder / "target.spm"), "--cpu-threads", "1", "--quiet", "--mini-batch", "1",
                                       "-t", str(self.folder / "s"), str(self.folder / "t"), "--alignment", "soft"])
        for model in ("aligned", "marian-aligned"):
            ours = self.call("score", "-m", model, "-t", "s", "t", "--alignment", "soft")
            for our_line, their_line in zip(ours.splitlines()[:9], theirs.splitlines()):
                self.assert_same_alignment(*(rows_of(line) for line in (our_line, their_line)), None)

    def test_ctranslate2_gives_the_same_alignments(self):
        ctranslate2, sentencepiece = modules("ctranslate2", "sentencepiece")
        self.guided("guided")
        self.call("convert", "-i", "guided", "-o", "ct2-guided", "--to", "ctranslate2")
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(self.folder / "ct2-guided" / "source.spm"))
        translator = ctranslate2.Translator(str(self.folder / "ct2-guided"), compute_type="float32")
        sources = [pieces.encode(line, out_type=str) for line in self.lines(0)]
        (self.folder / "few").write_text("\n".join(self.lines(0)) + "\n", encoding="utf-8")
        ours = self.call("translate", "-m", "guided", "-i", "few", "-b", "1", "--alignment", "soft")
        for source, found, line in zip(sources, translator.translate_batch(
                sources, beam_size=1, max_decoding_length=60, return_attention=True), ours.splitlines(), strict=True):
            # CTranslate2 leaves out </s> on both sides.
            self.assert_same_alignment(rows_of(line)[:-1], found.attention[0], len(source))

    def test_convert_compares_models_of_t5_with_ctranslate2(self):
        modules("ctranslate2", "sentencepiece")
        (self.folder / "words").write_text("w hh b dd p\nh x ee\na n aa r\n", encoding="utf-8")
        for name in ("ct2_t5", "ct2_madlad"):
            with self.subTest(name):
                done = subprocess.run([BINARY, "convert", "-i", str(GOLDEN / name), "-o", f"{name}-again", "--verify",
                                       "words"], cwd=self.folder, capture_output=True, encoding="utf-8", check=True)
                found = re.search(r"Compared with ctranslate2: 3 lines; .* at most (\S+) for each token", done.stderr)
                self.assertTrue(found, done.stderr)
                self.assertLess(float(found[1]), 1e-5)

    def test_convert_compares_with_the_program_that_a_model_comes_from(self):
        modules("ctranslate2", "sentencepiece", "torch", "transformers", "_pymarian")
        (self.folder / "few").write_text("\n".join(self.lines(0)) + "\n", encoding="utf-8")
        self.call("train", "-t", "s", "t", "-v", "v", "v", "-m", "like", "--task", "transformer-base-marian", *SMALL)
        for name, model in (("ctranslate2", "m"), ("transformers", "m"), ("marian", "like")):
            with self.subTest(name):
                self.call("convert", "-i", model, "-o", f"{name}-model", "--to",
                          {"transformers": "huggingface"}.get(name, name))
                files = [f"{name}-model/model.bin", "-v", *[f"{name}-model/{side}.spm" for side in ("source", "target")]]
                done = subprocess.run(
                    [BINARY, "convert", "-o", f"{name}-again", "--verify", "few", "-i",
                     *(files if name == "marian" else [f"{name}-model"])],
                    cwd=self.folder, capture_output=True, encoding="utf-8", check=True)
                found = re.search(rf"Compared with {name}: 9 lines; .* at most (\S+) for each token .* same for 9$",
                                  done.stderr, re.MULTILINE)
                self.assertTrue(found, done.stderr)
                self.assertLess(float(found[1]), 1e-5)
                self.assertEqual(done.stdout, "")

    def test_transformers_gives_the_same_probabilities_and_translations(self):
        torch, transformers, _ = modules("torch", "transformers", "sentencepiece")
        self.call("convert", "-i", "m", "-o", "hf", "--to", "huggingface")
        folder = str(self.folder / "hf")
        model = transformers.MarianMTModel.from_pretrained(folder).eval()
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        (self.folder / "few").write_text("\n".join(self.lines(0)) + "\n", encoding="utf-8")
        ours = self.call("translate", "-m", "m", "-i", "few", "-b", "3", "--search-rule", "huggingface").splitlines()
        for source, target, score, translation in zip(self.lines(0), self.lines(1), self.scores, ours):
            ids, labels = tokenizer([source], return_tensors="pt").input_ids, tokenizer([target]).input_ids[0]
            start = model.config.decoder_start_token_id
            with torch.no_grad():
                logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[start] + labels[:-1]])).logits[0]
                found = model.generate(ids, num_beams=3, max_length=60)
            log_probs = torch.log_softmax(logits.double(), -1)
            self.assertAlmostEqual(score, sum(float(log_probs[i, t]) for i, t in enumerate(labels)), delta=1e-4)
            self.assertEqual(tokenizer.decode(found[0], skip_special_tokens=True), translation)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
