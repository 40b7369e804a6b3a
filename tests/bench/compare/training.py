"""Compares training in dragoman and PyTorch: speed and memory with the same text, vocabulary, model and batch sizes.

Both count target tokens, </s> included, and exclude the first updates. With --devices both compute on that GPU, each in its
faster mode: dragoman with or without --half-activations (PyTorch's autocast has 16-bit activations, too), PyTorch compiled, with
the faster of its two batch layouts (torch_model.py). As compiling takes minutes, PyTorch is measured without it first. MFU is
then the share of the GPU's peak rate in bfloat16 that the necessary operations used (useful_work.py).
"""
import json
import math
import re
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import gpu
import table
import useful_work
from binary import Binary
from machine import missing
from process import run
from samples import GPU_PEAK, MFU, PEAK, TOKENS, Samples, collect
from shapes import SHAPES
from text import plain_copy

HERE = Path(__file__).parent
BATCHES = {"toy": [512], "tiny": [8192], "base": [4096], "big": [4096]}
CHUNKS = {"toy": 2048, "tiny": 2048, "base": 1024, "big": 1024}  # rows of PyTorch's fused projection and loss, fastest on CPUs
HALF = "16-bit activations"
SAMPLE = 20_000  # pairs from whose lengths the operations per token are computed


def add_options(p):
    p.add_argument("--train", nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    p.add_argument("--vocab", required=True, help="joint SentencePiece vocabulary")
    p.add_argument("--preset", choices=SHAPES, default="tiny")
    p.add_argument("--precisions", nargs="+", choices=["float32", "bfloat16"], default=["float32"])
    p.add_argument("--batches", type=int, nargs="+", metavar="TOKENS", help="batch sizes that both try, in target tokens")
    p.add_argument("--seconds", type=float, default=45, help="measured time")
    p.add_argument("--settle", type=float, default=15, help="seconds that dragoman trains before the measured time")
    p.add_argument("--devices", metavar="N", help="GPU of dragoman, by number; default: the CPU")
    p.add_argument("--peer-device", choices=["cpu", "cuda"], help="device of PyTorch; default: as --devices")
    p.add_argument("--peer-seconds", type=float, default=math.inf, metavar="SECONDS",
                   help="stop PyTorch after this time, and leave out what it has not measured by then")
    p.add_argument("--allocator", help="library to preload for PyTorch, such as libtcmalloc_minimal.so.4")


def programs(a):
    a.batches = a.batches or BATCHES[a.preset]
    a.peer_device = a.peer_device or ("cuda" if a.devices else "cpu")
    return Dragoman(a), PyTorch(a)


class Corpus:
    """Plain text in a folder, and the operations per target token."""

    def __init__(self, a, folder):
        self.files = [plain_copy(path, folder) for path in a.train]
        lengths = list(zip(*(self.lengths(a, file) for file in self.files)))
        said = run([a.dragoman, "vocab", "inspect", "-m", a.vocab]).out
        pieces = int(re.search(r"pieces +([\d,]+)", said)[1].replace(",", ""))
        self.operations = useful_work.per_target_token(SHAPES[a.preset], pieces, lengths)

    @staticmethod
    def lengths(a, file):
        with open(file, encoding="utf-8", newline="\n") as lines:
            head = "".join(islice(lines, SAMPLE))
        encoded = run([a.dragoman, "vocab", "encode", "-m", a.vocab], head).out
        return [len(line.split(" ")) + 1 for line in encoded.removesuffix("\n").split("\n")]

    def figures(self, speed, device):
        """A speed and the figures derived from it."""
        peak = useful_work.peak(gpu.query("name")) if device else None
        return {TOKENS: speed} | ({MFU: 100 * speed * self.operations / peak} if peak else {})


class Dragoman(Binary):
    def __init__(self, a):
        super().__init__(a)
        self.a = a

    def can(self, precision):
        return self.precision("train", precision) is not None

    def settings(self):
        modes = ["", f"{HALF}, "] if self.a.devices and "bfloat16" in self.a.precisions else [""]
        return [f"{mode}{batch:,} tokens" for mode in modes for batch in self.a.batches]

    def measure(self, precision, setting, corpus, folder):
        """The speed of the --seconds that begin --settle seconds after the first report."""
        a, log = self.a, Path(folder) / "log.jsonl"
        log.unlink(missing_ok=True)

        def reports():
            lines = log.read_text(encoding="utf-8").split("\n")[:-1] if log.exists() else []
            found = [event for event in map(json.loads, lines) if event["event"] == "report"]
            return [event for event in found if event["seconds"] >= found[0]["seconds"] + a.settle]

        def enough():
            found = reports()
            return len(found) > 1 and found[-1]["seconds"] - found[0]["seconds"] >= a.seconds

        words, often = setting.split()[-2].replace(",", ""), "10" if a.devices and a.preset != "toy" else "2"
        half = ["--half-activations"] if setting.startswith(HALF) else []
        with gpu.Memory() as memory:
            done = run([self.path, "train", "--train-sets", *corpus.files, "--vocabs", a.vocab, a.vocab, "--model",
                        f"{folder}/m.safetensors", *SHAPES[a.preset].options(), "--mini-batch-words", words, "--disp-freq",
                        often, "--valid-freq", "0", "--save-freq", "0", "--no-reload", "--log-json", log, *self.where(),
                        *self.precision("train", precision), *half], until=enough)
        found = reports()
        if len(found) < 2:
            sys.exit(f"error: dragoman ended before it had reported twice\n{done.log}")
        tokens, seconds = (found[-1][key] - found[0][key] for key in ("target_tokens", "seconds"))
        held = {GPU_PEAK: memory.mib()} if a.devices and memory.mib() else {}
        return corpus.figures(tokens / seconds, a.devices) | ({} if a.devices else {PEAK: done.peak}) | held

    def where(self):
        return ["--devices", self.a.devices] if self.a.devices else ["--cpu-threads", str(self.threads)]


class PyTorch:
    name = "PyTorch"

    def __init__(self, a):
        self.a, self.said = a, {}

    def missing(self):
        return missing(self.a.python, "torch", "sentencepiece")

    def version(self):
        return run([self.a.python, "-c", "import torch; print(torch.__version__)"]).out.strip()

    def can(self, _):
        return True

    def ways(self):
        return ["packed", "compiled packed", "compiled padded"] if self.a.peer_device == "cuda" else ["padded"]

    def settings(self):
        return [f"{way}, {batch:,} tokens" for way in self.ways() for batch in self.a.batches]

    def measure(self, precision, setting, corpus, folder):
        """One process measures all settings, because compiling takes longer than measuring; in each round it is asked for one
        setting after the other."""
        if setting not in self.said:
            self.said = self.measure_all(precision, corpus)
        line = self.said.pop(setting, {"error": f"not measured within {self.a.peer_seconds:.0f} s"})
        if "error" in line:
            print(f"note: PyTorch, {setting}: {line['error']}", file=sys.stderr)
            return {}
        held = {GPU_PEAK: line["peak_mib"]} if "peak_mib" in line else {PEAK: self.peak}
        return corpus.figures(line["tokens_per_second"], self.a.devices) | held

    def measure_all(self, precision, corpus):
        a = self.a
        end = time.monotonic() + a.peer_seconds
        done = run([a.python, "-B", HERE / "torch_training.py", *corpus.files, a.vocab, "--preset", a.preset,
                    "--ways", *self.ways(), "--batches", *map(str, a.batches), "--precision", precision,
                    "--seconds", str(a.seconds), "--threads", str(a.threads), "--device", a.peer_device,
                    *([] if a.peer_device == "cuda" else ["--chunk", str(CHUNKS[a.preset])])],
                   environment={"LD_PRELOAD": a.allocator} if a.allocator else {},
                   until=lambda: time.monotonic() > end)
        self.peak = done.peak
        lines = done.out[:done.out.rfind("\n") + 1].splitlines()  # whole ones
        return {f"{line['way']}, {line['batch']:,} tokens": line for line in map(json.loads, lines)}


def compare(a, ours, peer):
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(a, folder)
        print(f"Useful operations a target token: {corpus.operations:.3g}\nRounds: {a.rounds}, of {a.seconds:.0f} s\n\n"
              f"{table.header(PyTorch.name)}", flush=True)
        for precision in a.precisions:
            able = [p for p in (ours, peer) if p and p.can(precision)]
            found = collect(able, a.rounds, lambda program, setting:
                            program.measure(precision, setting, corpus, folder))
            yield f"{a.preset}, {precision}", found.get(ours, Samples()), found.get(peer, Samples())
