#!/usr/bin/env python3
"""What ONNX Runtime computes of the graphs that `dragoman convert --to onnx` writes, beside what dragoman computes.

    onnx_test.py BINARY

Skipped, with a word, where packages are missing (pip install onnxruntime sentencepiece).
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import onnxruntime
    import sentencepiece
    MISSING = ""
except ImportError as missing:
    MISSING = f"{missing.name} is not installed"

PAIRS = [("a small dog runs .", "ein kleiner hund rennt ."), ("two men .", "zwei männer ."), ("a house", "ein haus")]
LINES = [[f"{pair[side]} {pair[side]}"[:12 + 7 * i] for i, pair in enumerate(PAIRS * 30)] for side in (0, 1)]
FEW = 12
SMALL = ["--dim-emb", "32", "--transformer-heads", "4", "--transformer-dim-ffn", "64", "--enc-depth", "2", "--dec-depth",
         "2", "--learn-rate", "0.003", "--lr-warmup", "20u", "--mini-batch-words", "256", "--cpu-threads", "1"]
PRE_NORM = ["--transformer-preprocess", "n", "--transformer-postprocess", "da"]
MODELS = {
    "as the paper has it": [],
    "as Marian has it": ["--task", "transformer-base-marian", "--transformer-ffn-activation", "swish"],
    "pre-norm, learned positions, nothing tied": [
        *PRE_NORM, "--transformer-positions", "learned", "--tied-embeddings-all=false", "--transformer-ffn-activation",
        "gelu", "--transformer-decoder-heads", "2"],
    "post-norm with norms of embeddings and outputs": [
        "--transformer-embedding-norm", "--transformer-final-norm", "always", "--transformer-ffn-activation",
        "gelu-tanh", "--transformer-decoder-dim-ffn", "48", "--tied-embeddings"],
    "interleaved sinusoids, root mean squares": [
        *PRE_NORM, "--transformer-positions", "interleaved", "--transformer-norm", "rms", "--transformer-final-norm",
        "never", "--transformer-ffn-activation", "gelu-sigmoid", "--embedding-scale", "1"],
    "gated layers": [*PRE_NORM, "--transformer-ffn-gated", "--transformer-ffn-activation", "swish"],
    "learned positions, fewer than tokens": ["--transformer-positions", "learned", "--transformer-max-positions", "12",
                                             "--max-length", "11"],
}


class Runtime:
    """A folder of `dragoman convert --to onnx`."""

    def __init__(self, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.encoder, self.decoder = (
            onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
            for name in ("encoder_model", "decoder_model_merged"))
        self.config = json.loads((folder / "config.json").read_text())
        self.ids = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        self.start, self.end = (self.config[f"{name}_token_id"] for name in ("decoder_start", "eos"))
        generation = json.loads((folder / "generation_config.json").read_text())
        self.never = [ids[0] for ids in generation["bad_words_ids"]]

    def encode(self, sources):
        """Padded sources: the decoder's inputs that stay the same."""
        longest = max(map(len, sources))
        ids = numpy.array([s + [self.config["pad_token_id"]] * (longest - len(s)) for s in sources])
        mask = numpy.array([[1] * len(s) + [0] * (longest - len(s)) for s in sources])
        hidden = self.encoder.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return {"encoder_hidden_states": hidden, "encoder_attention_mask": mask}

    def no_past(self, sentences, tokens):
        """Keys and values that are not looked at."""
        return {value.name: numpy.full([sentences, value.shape[1], tokens, value.shape[3]], 7, numpy.float32)
                for value in self.decoder.get_inputs() if value.name.startswith("past_key_values.")}

    def step(self, fixed, past, ids, cached):
        """Logits of the last inputs, and the past of the next step."""
        names = [value.name for value in self.decoder.get_outputs()]
        values = dict(zip(names, self.decoder.run(
            names, {**fixed, **past, "input_ids": ids, "use_cache_branch": numpy.array([cached])})))
        return values.pop("logits"), {name.replace("present", "past_key_values"): v for name, v in values.items()}

    def log_probabilities(self, fixed, targets):
        """Of each token of each target, computed at once."""
        longest = max(map(len, targets))
        ids = numpy.array([([self.start] + t + [self.end] * longest)[:longest] for t in targets])
        logits = self.step(fixed, self.no_past(len(targets), 1), ids, False)[0].astype(numpy.float64)
        logits -= logits.max(-1, keepdims=True)
        logits -= numpy.log(numpy.exp(logits).sum(-1, keepdims=True))
        return [[float(logits[i, t, id]) for t, id in enumerate(target)] for i, target in enumerate(targets)]

    def greedy(self, fixed, length):
        """The most probable tokens, one step after another."""
        ids = numpy.full((len(fixed["encoder_attention_mask"]), 1), self.start)
        found, past = [[] for _ in ids], self.no_past(len(ids), 0)
        for step in range(length):
            logits, past = self.step(fixed, past, ids, step > 0)
            logits[:, -1, self.never] = -numpy.inf
            ids = logits[:, -1].argmax(-1)[:, None]
            for tokens, token in zip(found, ids[:, 0].tolist()):
                tokens.append(token)
        return [tokens[:tokens.index(self.end)] if self.end in tokens else tokens for tokens in found]


@unittest.skipIf(MISSING, MISSING)
class Onnx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        for side, name in enumerate(("s", "t")):
            (cls.folder / name).write_text("".join(line + "\n" for line in LINES[side]), encoding="utf-8")
            (cls.folder / f"few.{name}").write_text("".join(f"{line}\n" for line in LINES[side][:FEW]), encoding="utf-8")
        cls.call("vocab", "train", "--input", "s", "t", "--model", "v", "--size", "300")

    @classmethod
    def call(cls, *arguments):
        done = subprocess.run([BINARY, *arguments], cwd=cls.folder, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.splitlines()

    def test_scores_and_greedy_translations_are_dragomans(self):
        for number, (kind, options) in enumerate(MODELS.items()):
            with self.subTest(kind):
                model = f"m{number}"
                self.call("train", "-t", "s", "t", "-v", "v", "v", "-m", model, *SMALL, "--after", "100u", *options)
                self.compare(model, 11 if "--max-length" in options else 100)

    def compare(self, model, longest):
        """dragoman splits longer lines into segments."""
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(self.folder / "v"))
        self.call("convert", "-i", model, "-o", f"{model}.onnx", "--to", "onnx")
        runtime = Runtime(self.folder / f"{model}.onnx")
        sources, targets = ([[runtime.ids[p] for p in pieces.encode(line, out_type=str)] + [runtime.end]
                             for line in LINES[side][:FEW]] for side in (0, 1))
        fixed = runtime.encode(sources)
        ours = self.call("score", "-m", model, "-t", "few.s", "few.t", "--word-scores")
        for line, theirs in zip(ours, runtime.log_probabilities(fixed, targets), strict=True):
            words = line.split("WordScores=")[1].split()
            self.assertEqual(len(words), len(theirs))
            for a, b in zip(words, theirs):
                self.assertAlmostEqual(float(a), b, delta=1e-5)
        ours = self.call("translate", "-m", model, "-i", "few.s", "-b", "1")
        found = runtime.greedy(fixed, max(map(len, sources)) + 50)
        pieces_of = {id: piece for piece, id in runtime.ids.items()}
        for text, ids, source in zip(ours, found, sources, strict=True):
            if len(source) <= longest:
                self.assertEqual(text, pieces.decode([pieces_of[id] for id in ids[:len(source) + 49]]))


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
