"""Training in dragoman and in PyTorch: speed and memory on the same text, vocabulary, model and batch size.

Both count target tokens with </s> and leave the first seconds out.
"""
import json
import re
import sys
import tempfile
from pathlib import Path

import table
from binary import Binary
from machine import missing
from process import run
from samples import PEAK, TOKENS, Samples, collect

SIZES = {"tiny": ["--task", "transformer-tiny", "--mini-batch-words", "8192"],
         "base": ["--task", "transformer-base", "--mini-batch-words", "4096"]}
CHUNKS = {"tiny": "2048", "base": "1024"}  # rows of PyTorch's fused projection and loss at which it is fastest
PRECISIONS = {"float32": [], "bfloat16": ["--bf16"]}  # PyTorch's options


def add_options(p):
    p.add_argument("--train", nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    p.add_argument("--vocab", required=True, help="a joint SentencePiece vocabulary")
    p.add_argument("--preset", choices=SIZES, default="tiny")
    p.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=["float32"])
    p.add_argument("--seconds", type=float, default=45, help="that are measured")
    p.add_argument("--settle", type=float, default=15, help="seconds before them")
    p.add_argument("--peers", type=Path, default=Path("."), metavar="FOLDER", help="where torch_train.py is: a script "
                   "that with --measure SECONDS prints a JSON line with tgt_tok_s")
    p.add_argument("--allocator", help="a library to preload for PyTorch, such as libtcmalloc_minimal.so.4")


def programs(a):
    return Dragoman(a), PyTorch(a)


class Dragoman(Binary):
    def __init__(self, a):
        super().__init__(a)
        self.a = a

    def can(self, precision):
        return self.precision("train", precision) is not None

    def measure(self, precision, folder):
        """Words/s of all reports but the first two."""
        a = self.a
        minutes = max(1, round((a.seconds + a.settle) / 60))
        done = run([self.path, "train", "--train-sets", *a.train, "--vocabs", a.vocab, a.vocab, "--model",
                    f"{folder}/m.safetensors", *SIZES[a.preset], "--cpu-threads", str(a.threads), "--disp-freq", "2",
                    "--valid-freq", "0", "--save-freq", "0", "--no-reload", "--after", f"{minutes}m",
                    *self.precision("train", precision)])
        reports = re.findall(r"Time ([\d.]+)s : ([\d.]+) words/s", done.log)[2:]
        if not reports:
            sys.exit(f"error: less than 3 reports of dragoman in {minutes} minutes; raise --seconds")
        tokens = sum(float(time) * float(rate) for time, rate in reports)
        return {TOKENS: tokens / sum(float(time) for time, _ in reports), PEAK: done.peak}


class PyTorch:
    name = "PyTorch"

    def __init__(self, a):
        self.a, self.script = a, a.peers / "torch_train.py"

    def missing(self):
        if not self.script.exists():
            return f"no {self.script}; --peers names its folder"
        return missing(self.a.python, "torch", "sentencepiece")

    def version(self):
        return run([self.a.python, "-c", "import torch; print(torch.__version__)"]).out.strip()

    def can(self, _):
        return True

    def settings(self):
        return [f"{self.a.threads} threads, chunks of {CHUNKS[self.a.preset]}"]

    def measure(self, precision, folder):
        a = self.a
        environment = {"LD_PRELOAD": a.allocator} if a.allocator else {}
        done = run([a.python, "-B", self.script, "--preset", a.preset, "--train-src", a.train[0], "--train-tgt",
                    a.train[1], "--spm", a.vocab, "--out", folder, "--threads", str(a.threads), "--settle",
                    str(a.settle), "--measure", str(a.seconds), "--loss-chunk", CHUNKS[a.preset],
                    *PRECISIONS[precision]], environment=environment)
        [speed] = [line["tgt_tok_s"] for line in map(json.loads, done.out.splitlines()) if "tgt_tok_s" in line]
        return {TOKENS: speed, PEAK: done.peak}


def compare(a, ours, peer):
    print(f"Rounds: {a.rounds}, of {a.seconds:.0f} s\n\n{table.header(PyTorch.name)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for precision in a.precisions:
            able = [p for p in (ours, peer) if p and p.can(precision)]
            found = collect(able, a.rounds, lambda program, _: program.measure(precision, folder))
            of_ours, of_peer = (found.get(program, Samples()) for program in (ours, peer))
            print(table.rows(f"{a.preset}, {precision}", of_ours, of_peer), flush=True)
