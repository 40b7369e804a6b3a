"""Compares training on several processes with one process that has as many threads: speed, and bytes sent per update.

All train on the same batches. For each model, a round runs one process with one shard (the baseline), one process with
--gradient-shards 8, and --threads processes of one thread each. The first update is not counted. With R ranks, a rank has to
send at least (1 - 1/R) of the gradients in an update, and as much of the new values.

For figures that are quoted, run the programs with real-time priority: `chrt -f 50 python3 tests/bench/compare ranks ...`.
"""
import json
import re
import tempfile
from pathlib import Path

from binary import Binary
from model_file import ModelFile
from process import run
from samples import Measure, Samples, TOKENS
from shapes import SHAPES
from table import header
from text import plain_copy

UPDATES = {"toy": 3, "tiny": 12, "base": 3, "big": 2}  # updates in a run
RANKS = (2, 4, 8)  # numbers of ranks for which bytes are counted
SENT = Measure("sent by a rank in an update, bytes", "{:,.0f}".format, min)


def add_options(p):
    p.add_argument("--train", nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    p.add_argument("--vocab", required=True, help="a joint SentencePiece vocabulary")
    p.add_argument("--presets", nargs="+", choices=SHAPES, default=["tiny", "base"])
    p.add_argument("--batch", type=int, default=8192, metavar="TOKENS", help="target tokens of an update, 1,024 for each shard")


class Baseline(Binary):
    name = "baseline"


def programs(a):
    return Binary(a), Baseline(a)


class Trainings:
    """Runs of one model that differ only in processes, threads and shards."""

    def __init__(self, a, preset, files, folder):
        self.a, self.preset, self.files, self.folder = a, preset, files, Path(folder)

    def ways(self):
        threads = str(self.a.threads)
        return {"one shard": ["--gradient-shards", "1", "--cpu-threads", threads],
                "8 shards": ["--gradient-shards", "8", "--cpu-threads", threads],
                f"{threads} processes": ["--processes", threads, "--cpu-threads", "1"]}

    def run(self, options, updates):
        """Returns (the stderr of the program, its reports)."""
        a, log = self.a, self.folder / "log.jsonl"
        log.unlink(missing_ok=True)
        done = run([a.dragoman, "train", "--train-sets", *self.files, "--vocabs", a.vocab, a.vocab, "--model", self.model(),
                    *SHAPES[self.preset].options(), "--mini-batch-words", str(a.batch), "--after", f"{updates}u",
                    "--disp-freq", "1u", "--valid-freq", "0", "--save-freq", "0", "--no-reload", "--log-json", log, *options])
        events = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        return done.log, [event for event in events if event["event"] == "report"]

    def model(self):
        return self.folder / f"{self.preset}.safetensors"

    def speed(self, options):
        _, reports = self.run(options, UPDATES[self.preset])
        tokens, seconds = (reports[-1][key] - reports[0][key] for key in ("target_tokens", "seconds"))
        return {TOKENS: tokens / seconds}

    def sent(self, ranks):
        """Bytes sent by rank 0 in an update other than the first."""
        def all_bytes(updates):
            said, _ = self.run(["--processes", str(ranks), "--cpu-threads", "1", "--profile"], updates)
            return int(re.search(r"^bytes to other ranks +([\d,]+)$", said, re.MULTILINE)[1].replace(",", ""))
        return all_bytes(2) - all_bytes(1)

    def least(self, ranks):
        return 2 * (1 - 1 / ranks) * ModelFile(self.model()).weights()


def one(measure, setting, value):
    samples = Samples()
    samples.add(setting, {measure: value})
    return samples


def compare(a, ours, peer):
    with tempfile.TemporaryDirectory() as folder:
        files = [plain_copy(path, folder) for path in a.train]
        print(f"Target tokens of an update: {a.batch:,}, rounds: {a.rounds}\n\n{header(peer.name)}", flush=True)
        for preset in a.presets:
            trainings = Trainings(a, preset, files, folder)
            baseline, *others = trainings.ways()
            found = {way: Samples() for way in trainings.ways()}
            for i in range(a.rounds):
                for way, options in list(trainings.ways().items())[::-1 if i % 2 else 1]:
                    found[way].add(way, trainings.speed(options))
            for way in others:
                yield f"{preset}, {way}", found[way], found[baseline]
            for ranks in RANKS:
                yield (f"{preset}, {ranks} ranks", one(SENT, "", trainings.sent(ranks)),
                       one(SENT, "the least", trainings.least(ranks)))
